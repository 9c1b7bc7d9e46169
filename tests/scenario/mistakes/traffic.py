"""Mistakes in traffic."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "duration: 10 s",
        "duration: 10",
        ['19: traffic.0.bulk.duration: 10: a time needs a unit: did you mean "10 s"?'],
    ),
    (
        "duration: 10 s",
        "duration: 10 s, start: 2",
        ['19: traffic.0.bulk.start: 2: a time needs a unit: did you mean "2 s"?'],
    ),
    (
        "from: client",
        "from: cleint",
        ['19: traffic.0.bulk.from: there is no host "cleint": did you mean "client"?'],
    ),
    (
        "to: server",
        "to: ap",
        ['19: traffic.0.bulk.to: "ap" is a router: only hosts have applications'],
    ),
    ("to: server", "to: client", ['19: traffic.0.bulk.to: "client" is the client itself']),
    (
        "duration: 10 s",
        "duration: 10 s, size: 5 MB",
        ["19: traffic.0.bulk.size: a bulk transfer has a duration or a size, not both"],
    ),
    (
        "duration: 10 s",
        "streams: 2",
        ["19: traffic.0.bulk: needs `duration: 10 s` or `size: 10 MB`"],
    ),
    (
        "bulk: {from: client, to: server, duration: 10 s}",
        "datagrams: {from: client, to: server, duration: 10 s, rate: 1 Mbit/s, packet: 9 kB}",
        [
            "19: traffic.0.datagrams.packet: 9000 B, but client.wifi on the way takes packets of 1500 B: send no larger ones"
        ],
    ),
    (
        "bulk: {from: client, to: server, duration: 10 s}",
        "stream: {from: client, to: server, duration: 10 s, rate: 1 Gbit/s, frame: 1 B, deadline: 1 s}",
        ["19: traffic.0.stream.frame: a stream has at most 1000000 frames: make them larger"],
    ),
    (
        "bulk: {from: client, to: server, duration: 10 s}",
        "stream: {from: client, to: server, duration: 10 s, rate: 1 Mbit/s, frame: 1 kB}",
        ["19: traffic.0.stream.deadline: missing: add `deadline: 150 ms`"],
    ),
    ("duration: 10 s", "duration: 0 s", ['19: traffic.0.bulk.duration: "0 s": must be above 0']),
    (
        "duration: 10 s",
        "duration: 10 s, way: sideways",
        ['19: traffic.0.bulk.way: "sideways": known: up, down, both'],
    ),
    (
        "duration: 10 s",
        "duration: 10 s, direction: sideways",
        ['19: traffic.0.bulk.direction: "sideways": known: up, down, both'],
    ),
    (
        "duration: 10 s",
        "duration: 10 s, way: up, direction: up",
        ["19: traffic.0.bulk.way: is the same as `direction`: give one of them"],
    ),
    (
        "duration: 10 s",
        "duration: 10 s, directoin: up",
        ['19: traffic.0.bulk.directoin: unknown key: did you mean "direction"?'],
    ),
    (
        "duration: 10 s",
        "duration: 10 s, via: wlan",
        ['19: traffic.0.bulk.via: client has no interface "wlan": known: wifi, eth'],
    ),
    ("- bulk:", "- blk:", ['19: traffic.0.blk: unknown key: did you mean "bulk"?']),
    (
        "- bulk: {from: client, to: server, duration: 10 s}",
        "- bulk: {from: client, to: server, duration: 10 s}\n    ping: {from: client, to: server}",
        [
            "19: traffic.0: a flow has exactly one of: bulk, http, ftp, ping, request-response, stream, datagrams, command"
        ],
    ),
    (
        "- bulk: {from: client, to: server, duration: 10 s}",
        "- command: {on: client, run: 'curl {server}'}",
        [
            "19: traffic.0.command.run: {server} stands for the address of a server: "
            "add server: {on: HOST, run: …}"
        ],
    ),
    (
        "- bulk: {from: client, to: server, duration: 10 s}",
        "- command: {on: client, run: 'echo \"'}",
        [
            '19: traffic.0.command.run: "echo \\"": is no command line (no closing quotation): check its quotes'
        ],
    ),
    (
        "- bulk: {from: client, to: server, duration: 10 s}",
        "- bulk: {from: client, to: server, duration: 10 s, name: a}\n  - ping: {from: client, to: server, name: a}",
        ['20: traffic.1.ping.name: "a" is the name of flow 0 already'],
    ),
    (
        "- bulk: {from: client, to: server, duration: 10 s}",
        "[]",
        ["18: traffic: needs at least 1 entry"],
    ),
    (
        "from: client",
        "from: [client, client]",
        ['19: traffic.0.bulk.from: "client" is given twice'],
    ),
    (
        "  - bulk: {from: client, to: server, duration: 10 s}",
        "  - bulk: {from: client, to: server, duration: 10 s}\n  - datagrams: {from: client, to: server, duration: 1 s}",
        ["20: traffic.1.datagrams.rate: missing: add `rate: 5 Mbit/s`"],
    ),
    (
        "  - bulk: {from: client, to: server, duration: 10 s}",
        "  - bulk: {from: client, to: server, duration: 10 s}\n  - datagrams: {from: client, to: server, rate: 1 Mbit/s, duration: 1 s, on_off: {burst: 1 s}}",
        ["20: traffic.1.datagrams.on_off.pause: missing: add `pause: 500 ms`"],
    ),
    (
        "duration: 10 s}",
        "duration: 10 s, rate: 0 Mbit/s}",
        ['19: traffic.0.bulk.rate: "0 Mbit/s": must be above 0'],
    ),
    (
        "duration: 10 s}",
        "duration: 10 s, subflows: [client.eth, client.wfi]}",
        [
            '19: traffic.0.bulk.subflows.1: "client.wfi": client has no interface "wfi": did you mean '
            '"wifi"?'
        ],
    ),
    (
        "duration: 10 s}",
        "duration: 10 s, subflows: server.lan}",
        ['19: traffic.0.bulk.subflows: "server.lan": is no interface of a client, client'],
    ),
    (
        "duration: 10 s}",
        "duration: 10 s, subflows: client.wifi}",
        [
            "19: traffic.0.bulk.subflows: the path manager of client opens subflows itself: write "
            "hosts.client.mptcp.path_manager: application"
        ],
    ),
]
