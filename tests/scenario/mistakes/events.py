"""Mistakes in events."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "at: 5 s",
        "at: 5",
        ['21: events.0.at: 5: a time needs a unit: did you mean "5 s"?'],
    ),
    ("at: 5 s", "at: 50 s", ["21: events.0.at: 50 s is after the end of all traffic (10 s)"]),
    (
        "carrier: eth",
        "carrier: ethernet",
        ['21: events.0.carrier: there is no link "ethernet": known: wifi, lan, eth'],
    ),
    (
        "carrier: eth, up: false",
        "link: eth",
        ["21: events.0: an event of link needs exactly one of change, up"],
    ),
    (
        "carrier: eth, up: false",
        "link: eth, carrier: eth, up: false",
        ["21: events.0: an event has exactly one of link, carrier, interface and subflow"],
    ),
    (
        "carrier: eth, up: false",
        "carrier: eth, backup: true",
        ["21: events.0.backup: an event of carrier takes up"],
    ),
    (
        "carrier: eth, up: false",
        "interface: ap.lan, up: false",
        ['21: events.0.interface: "ap.lan": ap is a router; this takes a host\'s interface'],
    ),
    ("carrier: eth, up: false", "link: eth, change: {}", ["21: events.0.change: changes nothing"]),
    (
        "carrier: eth, up: false",
        "link: eth, change: {framing: 38 B}",
        ["21: events.0.change.framing: cannot change while a link works"],
    ),
    ("at: 5 s, ", "", ["21: events.0.at: missing: add `at: 10 s`"]),
    (
        "mptcp: {}",
        "mptcp: {set: {traffic.0.bulk.duration: 2 s}}",
        ["21: events.0.at: 5 s is after the end of all traffic (2 s) (in variant mptcp)"],
    ),
    (
        "events:\n  - {at",
        "events:\n  - {at: 1 s, link: eth, change: {rate: 10}}\n  - {at",
        ['21: events.0.change.rate: 10: a rate needs a unit: did you mean "10 Mbit/s"?'],
    ),
    (
        "carrier: eth, up: false",
        "subflow: {of: bulk, from: client.wifi, to: server.lan}",
        ["21: events.0: an event of subflow needs exactly one of up"],
    ),
    (
        "carrier: eth, up: false",
        "subflow: {of: bluk, from: client.wifi, to: server.lan}, up: true",
        ['21: events.0.subflow.of: there is no traffic "bluk": did you mean "bulk"?'],
    ),
    (
        "carrier: eth, up: false",
        "subflow: {of: bulk, from: server.lan, to: server.lan}, up: true",
        ['21: events.0.subflow.from: "server.lan": is no interface of client, the client of bulk'],
    ),
    (
        "carrier: eth, up: false",
        "subflow: {of: bulk, from: client.wifi, to: server.lna}, up: true",
        [
            '21: events.0.subflow.to: "server.lna": server has no interface "lna": did you mean "lan"?'
        ],
    ),
]
