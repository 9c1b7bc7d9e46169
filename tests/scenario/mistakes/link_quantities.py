"""Mistakes in the quantities of a link: rates, times and probabilities."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
    ("rate: 48 Mbit/s", "rate: 48 Mb", ['15: links.wifi.rate: "48 Mb": did you mean "48 Mbit/s"?']),
    (
        "rate: 48 Mbit/s",
        "rate: 48",
        ['15: links.wifi.rate: 48: a rate needs a unit: did you mean "48 Mbit/s"?'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: 48 MB/s",
        ['15: links.wifi.rate: "48 MB/s": did you mean "384 Mbit/s"? (rates are in bits)'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: 48 furlong",
        [
            '15: links.wifi.rate: "48 furlong": unknown unit "furlong": known: bit/s, kbit/s, Mbit/s, Gbit/s'
        ],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: 0 Mbit/s",
        [
            '15: links.wifi.rate: "0 Mbit/s": must be above 0; to stop a link use an event with `up: false`'
        ],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: -1 Mbit/s",
        ['15: links.wifi.rate: "-1 Mbit/s": a rate must not be negative'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: fast",
        ['15: links.wifi.rate: "fast": a rate is a number with a unit, such as "48 Mbit/s"'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: '1,5 Mbit/s'",
        ['15: links.wifi.rate: "1,5 Mbit/s": did you mean "1.5 Mbit/s"?'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: 48 mbit/s",
        ['15: links.wifi.rate: "48 mbit/s": did you mean "48 Mbit/s"?'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: [48 Mbit/s]",
        ['15: links.wifi.rate: a rate is a number with a unit, such as "48 Mbit/s"'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: 1e30 Mbit/s",
        ['15: links.wifi.rate: "1e30 Mbit/s": the largest rate is 1000 Gbit/s'],
    ),
    (
        "rate: 48 Mbit/s",
        "rate: 1000.000000001 Gbit/s",
        ['15: links.wifi.rate: "1000.000000001 Gbit/s": the largest rate is 1000 Gbit/s'],
    ),
    (
        "rate: 48 Mbit/s",
        "up: {rate: 1000000 Gbit/s}",
        ['15: links.wifi.up.rate: "1000000 Gbit/s": the largest rate is 1000 Gbit/s'],
    ),
    (
        "delay: 1 ms",
        "delay: 1",
        ['15: links.wifi.delay: 1: a time needs a unit: did you mean "1 ms"?'],
    ),
    ("delay: 1 ms", "delay: 1 msec", ['15: links.wifi.delay: "1 msec": did you mean "1 ms"?']),
    (
        "delay: 1 ms",
        "delay: 0.1 ns",
        ['15: links.wifi.delay: "0.1 ns": finer than 1 ns, the smallest step'],
    ),
    ("delay: 1 ms", "delay: -1 ms", ['15: links.wifi.delay: "-1 ms": a time must not be negative']),
    (
        "delay: 1 ms",
        "loss: 120 %",
        ['15: links.wifi.loss: "120 %": a probability is at most 100 %'],
    ),
    ("delay: 1 ms", "loss: 5", ['15: links.wifi.loss: 5: above 1: did you mean "5 %"?']),
    (
        "delay: 1 ms",
        "loss: some",
        [
            '15: links.wifi.loss: "some": a probability is a percentage, such as "0.1 %", or a fraction, such as 0.001'
        ],
    ),
    (
        "delay: 1 ms",
        "loss: -1 %",
        ['15: links.wifi.loss: "-1 %": a probability must not be negative'],
    ),
    (
        "delay: 1 ms",
        "loss: {gilbert-elliott: {p: 1 %}}",
        ["15: links.wifi.loss.gilbert-elliott.r: missing: add `r: 30 %`"],
    ),
    (
        "delay: 1 ms",
        "loss: {random: 1 %, gilbert-elliott: {p: 1 %, r: 30 %}}",
        ["15: links.wifi.loss: give one of random and gilbert-elliott"],
    ),
    (
        "delay: 1 ms",
        "jitter: 3",
        ['15: links.wifi.jitter: 3: a time needs a unit: did you mean "3 ms"?'],
    ),
    (
        "delay: 1 ms",
        "jitter: {normal: 1 ms, uniform: 1 ms}",
        ["15: links.wifi.jitter: give one of uniform and normal"],
    ),
    (
        "delay: 1 ms",
        "delay: 1 ms, up: {rate: 5 Mb}",
        ['15: links.wifi.up.rate: "5 Mb": did you mean "5 Mbit/s"?'],
    ),
    (
        "delay: 1 ms",
        "delay: 1 ms, duplication: 5",
        ['15: links.wifi.duplication: 5: above 1: did you mean "5 %"?'],
    ),
]
