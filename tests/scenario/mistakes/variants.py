"""Mistakes in variants, findings and references."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "protocol: tcp, via",
        "protocol: udp, via",
        ['23: variants.tcp-wifi.protocol: "udp": known: tcp, mptcp'],
    ),
    (
        "via: wifi",
        "via: wlan",
        ['23: variants.tcp-wifi.via: client has no interface "wlan": known: wifi, eth'],
    ),
    (
        "via: wifi",
        "via: [wifi, wlan]",
        ['23: variants.tcp-wifi.via: client has no interface "wlan": known: wifi, eth'],
    ),
    ("via: wifi", "via: [wifi, wifi]", ['23: variants.tcp-wifi.via: "wifi" is given twice']),
    (
        "mptcp: {}",
        "mptcp: {via: [wifi, eth]}",
        [
            "24: variants.mptcp.via: several interfaces at once are for protocol tcp: MPTCP uses them by its subflows"
        ],
    ),
    (
        "mptcp: {}",
        "mptcp: {set: {links.eht.rate: 5 Mbit/s}}",
        ['24: variants.mptcp.set.links.eht.rate: there is no link "eht": did you mean "eth"?'],
    ),
    (
        "mptcp: {}",
        "mptcp: {set: {links.eth.rate: 5 Mb}}",
        ['24: variants.mptcp.set.links.eth.rate: "5 Mb": did you mean "5 Mbit/s"?'],
    ),
    (
        "mptcp: {}",
        "mptcp: {set: {links.eth.speed: 5 Mbit/s}}",
        [
            "24: variants.mptcp.set.links.eth.speed: unknown key: known: rate, trace, burst, framing, delay, jitter, loss, reordering, duplication, queue, up, down, profile, duplex, offload, between, middleboxes"
        ],
    ),
    (
        "mptcp: {}",
        "mptcp: {set: {traffic.3.bulk.duration: 5 s}}",
        [
            '24: variants.mptcp.set.traffic.3.bulk.duration: traffic is a list: give a position (0) instead of "3"'
        ],
    ),
    (
        "mptcp: {}",
        "mptcp: {set: {links.wifi.rate.max: 5 Mbit/s}}",
        [
            '24: variants.mptcp.set.links.wifi.rate.max: links.wifi.rate is "48 Mbit/s", which has no max: set links.wifi.rate itself'
        ],
    ),
    (
        "mptcp.goodput >",
        "mtpcp.goodput >",
        [
            '26: expect.0: "mtpcp.goodput > tcp-wifi.goodput": there is no variant "mtpcp": did you mean "mptcp"?'
        ],
    ),
    (
        "mptcp.goodput >",
        "mptcp.goodput =>",
        [
            '26: expect.0: "mptcp.goodput => tcp-wifi.goodput": cannot be read from "=> tcp-wifi.goodput": did you mean >=?'
        ],
    ),
    (
        "mptcp.goodput >",
        "mptcp >",
        [
            '26: expect.0: "mptcp > tcp-wifi.goodput": "mptcp" names no metric: write variant.metric, such as mptcp.goodput'
        ],
    ),
    (
        "mptcp.goodput >",
        "(mptcp.goodput >",
        ['26: expect.0: "(mptcp.goodput > tcp-wifi.goodput": expected ) before ">"'],
    ),
    (
        "mptcp.goodput >",
        "mptcp.goodput > 3 Mb +",
        [
            '26: expect.0: "mptcp.goodput > 3 Mb + tcp-wifi.goodput": "3 Mb": did you mean "3 Mbit/s"?'
        ],
    ),
    (
        "- mptcp.goodput > tcp-wifi.goodput",
        "- {finding: mptcp.goodput >, note: x}",
        ['26: expect.0: "mptcp.goodput >": expected a number or variant.metric at the end'],
    ),
    (
        "- mptcp.goodput > tcp-wifi.goodput",
        "- {note: x}",
        ["26: expect.0.finding: missing: add `finding: mptcp.jain >= 0.9`"],
    ),
    ("- mptcp.goodput > tcp-wifi.goodput", "- 5", ["26: expect.0: 5: expected text"]),
    (
        "- mptcp.goodput > tcp-wifi.goodput",
        "- {finding: mptcp.goodput > 5, why: x}",
        ["26: expect.0.why: unknown key: known: finding, note"],
    ),
    (
        "> tcp-wifi.goodput",
        "",
        ['26: expect.0: "mptcp.goodput": expected >=, <=, >, < or == at the end'],
    ),
    (
        "expect:\n",
        "reference:\n  - {variant: tcp, metric: goodput, value: 3 Mbit/s}\nexpect:\n",
        ['26: reference.0.variant: there is no variant "tcp": did you mean "mptcp"?'],
    ),
    (
        "expect:\n",
        "reference:\n  - {variant: mptcp, metric: goodput, value: 3 Mb}\nexpect:\n",
        ['26: reference.0.value: "3 Mb": did you mean "3 Mbit/s"?'],
    ),
]
