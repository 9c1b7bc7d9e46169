"""Mistakes in links: queues, traces and ends."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "delay: 1 ms",
        "queue: 100",
        ['15: links.wifi.queue: 100: needs a unit: did you mean "100 packets"?'],
    ),
    ("delay: 1 ms", "queue: 2 bdp", ['15: links.wifi.queue: "2 bdp": did you mean "2 BDP"?']),
    ("delay: 1 ms", "queue: 64 KB", ['15: links.wifi.queue: "64 KB": did you mean "64 kB"?']),
    (
        "delay: 1 ms",
        "queue: 0 packets",
        ['15: links.wifi.queue: "0 packets": must be above 0: a queue of nothing cannot be served'],
    ),
    (
        "delay: 1 ms",
        "queue: 1.5 packets",
        [
            '15: links.wifi.queue: "1.5 packets": a queue holds a whole number of packets, below 2^32'
        ],
    ),
    (
        "delay: 1 ms",
        "queue: {limit: 1 BDP, target: 5 ms}",
        ["15: links.wifi.queue.target: is a setting of `discipline: codel`"],
    ),
    (
        "delay: 1 ms",
        "queue: {discipline: fq-codel}",
        ['15: links.wifi.queue.discipline: "fq-codel": did you mean "codel"?'],
    ),
    (
        "delay: 1 ms",
        "reordering: {probability: 1 %}",
        ["15: links.wifi.reordering.by: missing: add `by: 5 ms`"],
    ),
    (
        "delay: 1 ms",
        "trace: none.mahi",
        ["15: links.wifi.trace: a link has a rate or a trace, not both"],
    ),
    (
        "delay: 1 ms",
        "burst: 15",
        ['15: links.wifi.burst: 15: a size needs a unit: did you mean "15 B"?'],
    ),
    ("delay: 1 ms", "burst: 0 B", ['15: links.wifi.burst: "0 B": must be above 0']),
    ("delay: 1 ms", "burst: 2000 GB", ['15: links.wifi.burst: "2000 GB": must be at most 1000 GB']),
    (
        "rate: 48 Mbit/s",
        "trace: none.mahi, burst: 15 kB",
        ["15: links.wifi.burst: is of a rate; a trace tells itself what leaves when"],
    ),
    (
        "delay: 1 ms",
        "duplex: half, burst: 15 kB",
        [
            "15: links.wifi.burst: a half-duplex link has no token bucket: remove it, or make the link full duplex"
        ],
    ),
    (
        "rate: 48 Mbit/s",
        "burst: 15 kB",
        ["15: links.wifi.burst: is of a rate, and wifi has none: give it a rate"],
    ),
    (
        "rate: 48 Mbit/s",
        "up: {rate: 1 Mbit/s, burst: 15 kB}, down: {burst: 15 kB}",
        ["15: links.wifi.down.burst: is of a rate, and wifi has none: give it a rate"],
    ),
    (
        "rate: 48 Mbit/s",
        "duplex: half, trace: none.mahi",
        ["15: links.wifi.trace: none.mahi: cannot be read (No such file or directory)"],
    ),
    (
        "rate: 48 Mbit/s",
        "trace: none.mahi",
        ["15: links.wifi.trace: none.mahi: cannot be read (No such file or directory)"],
    ),
    ("delay: 1 ms", "dealy: 1 ms", ['15: links.wifi.dealy: unknown key: did you mean "delay"?']),
    (
        "client.wifi, ap.wlan",
        "client.wlan, ap.wlan",
        [
            '15: links.wifi.between.0: "client.wlan": client has no interface "wlan": known: wifi, eth'
        ],
    ),
    (
        "client.wifi, ap.wlan",
        "cleint.wifi, ap.wlan",
        [
            '15: links.wifi.between.0: "cleint.wifi": there is no node "cleint": did you mean "client"?'
        ],
    ),
    ("client.wifi, ap.wlan", "client.wifi", ["15: links.wifi.between: needs at least 2 entries"]),
    (
        "client.wifi, ap.wlan",
        "client, ap",
        [
            '15: links.wifi.between.0: "client": write it as node.interface, such as client.eth',
            '15: links.wifi.between.1: "ap": write it as node.interface, such as client.eth',
        ],
    ),
    (
        "client.wifi, ap.wlan",
        "client.wifi, client.wifi",
        ["15: links.wifi.between: joins client to itself"],
    ),
    (
        "client.wifi, ap.wlan",
        "client.eth, ap.wlan",
        ['17: links.eth.between.0: "client.eth": link wifi uses it already'],
    ),
    (
        "ap.wlan]",
        "ap.wireless-interface]",
        [
            '15: links.wifi.between.1: "ap.wireless-interface": an interface\'s name has at most 15 bytes'
        ],
    ),
    (
        "  eth: {between: [client.eth, server.eth], profile: ethernet-100}",
        "  eth: {between: [client.eth, other.eth], profile: ethernet-100}",
        [
            '17: links.eth.between.1: "other.eth": there is no node "other": known: client, server, ap'
        ],
    ),
    ("delay: 1 ms", "framing: 100 kB", ['15: links.wifi.framing: "100 kB": must be at most 10 kB']),
    (
        "delay: 1 ms}",
        "delay: 1 ms, between: 3}",
        ["15: links.wifi.between: given twice (first in line 15)"],
    ),
    (
        "rate: 48 Mbit/s, delay",
        "queue: {discipline: codel}, delay",
        ["15: links.wifi.queue: no packet waits for wifi, whose rate is unlimited: give it a rate"],
    ),
    (
        "rate: 48 Mbit/s, delay",
        "rate: unlimited, queue: 100 packets, delay",
        ["15: links.wifi.queue: no packet waits for wifi, whose rate is unlimited: give it a rate"],
    ),
    (
        "rate: 48 Mbit/s, delay",
        "up: {rate: 1 Mbit/s, queue: 9 kB}, down: {queue: 9 kB}, delay",
        [
            "15: links.wifi.down.queue: no packet waits for wifi, whose rate is unlimited: give it a rate"
        ],
    ),
]
