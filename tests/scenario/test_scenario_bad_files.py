"""Mistakes in a scenario: what is replaced in `good.yaml` by what, and the messages."""
# A message stands on one line.
# ruff: noqa: E501

from pathlib import Path

import pytest

from mptcplab.scenario import ScenarioError, loads

GOOD = Path(__file__).with_name("good.yaml").read_text(encoding="utf-8")

BAD: list[tuple[str, str, list[str]]] = [
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
    ("rate: 48 Mbit/s", "rate: 1e30 Mbit/s", ['15: links.wifi.rate: "1e30 Mbit/s": too large']),
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
        "rate: 48 Mbit/s",
        "duplex: half, trace: none.mahi",
        ["15: links.wifi.trace: a half-duplex link takes no trace, whose rate is one direction's"],
    ),
    (
        "rate: 48 Mbit/s",
        "trace: none.mahi",
        ["15: links.wifi.trace: none.mahi: cannot be read (No such file or directory)"],
    ),
    ("delay: 1 ms", "dealy: 1 ms", ['15: links.wifi.dealy: unknown key: did you mean "delay"?']),
    (
        "hosts:\n",
        "host:\n",
        [
            "1: hosts: missing: add `hosts: {client: {interfaces: {eth: {}}}, server: …}`",
            '2: host: unknown key: did you mean "hosts"?',
        ],
    ),
    ("title: Two paths", "title: 7", ["1: title: 7: expected text"]),
    ("wifi: {between", "wifi: [between", ["15: not valid YAML: expected ',' or ']', but got '}'"]),
    (
        "      wifi: {}",
        "      wifi: {adress_delay: 3 s}",
        [
            '5: hosts.client.interfaces.wifi.adress_delay: unknown key: did you mean "address_delay"?'
        ],
    ),
    (
        "protocol: tcp, via",
        "protocol: udp, via",
        ['23: variants.tcp-wifi.protocol: "udp": known: tcp, mptcp'],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "mptcp: {enabled: yes}",
        ['7: hosts.client.mptcp.enabled: "yes": expected true or false'],
    ),
    (
        "title: Two paths",
        "title: Two paths\nrepetitions: 0",
        ["2: repetitions: 0: must be at least 1"],
    ),
    (
        "title: Two paths",
        "title: Two paths\nrepetitions: many",
        ['2: repetitions: "many": expected a whole number'],
    ),
    (
        "title: Two paths",
        "title: Two paths\ntitle: Again",
        ["2: title: given twice (first in line 1)"],
    ),
    (
        "title: Two paths",
        "title: 'Two paths",
        ["27: not valid YAML: found unexpected end of stream"],
    ),
    (
        "title: Two paths",
        "title: !!python/object:os.system x",
        ['1: title: tags such as "tag:yaml.org,2002:python/object:os.system" are not used here'],
    ),
    ("title: Two paths", "title: *unknown", ['1: title: "*unknown" refers to nothing before it']),
    (
        "title: Two paths",
        "title: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}}}}}}}}}}}}}}",
        ["1: title.a.a: nested deeper than 20 levels"],
    ),
    ("title: Two paths", "? [a]\n: b", ["1: a key must be plain text"]),
    (
        "title: Two paths",
        "title: a\n---\ntitle: b",
        ["2: a second document: a file holds one scenario"],
    ),
    (
        "title: Two paths",
        "name: ../../etc/passwd",
        [
            '1: name: "../../etc/passwd": a scenario\'s name has letters, digits, spaces and . / - _ only'
        ],
    ),
    (
        "path_manager: fullmesh",
        "path_manager: full-mesh",
        [
            '7: hosts.client.mptcp.path_manager: "full-mesh": unknown path manager: did you mean "fullmesh"?'
        ],
    ),
    (
        "path_manager: fullmesh",
        "path_manager: {ndiffports: 9}",
        ["7: hosts.client.mptcp.path_manager: ndiffports is from 2 to 8"],
    ),
    (
        "path_manager: fullmesh",
        "path_manager: ndiffports",
        [
            '7: hosts.client.mptcp.path_manager: "ndiffports": needs a number: write `path_manager: {ndiffports: 3}`'
        ],
    ),
    (
        "path_manager: fullmesh",
        "scheduler: rounrobin",
        ['7: hosts.client.mptcp.scheduler: "rounrobin": did you mean "round-robin"?'],
    ),
    (
        "path_manager: fullmesh",
        "limits: {subflows: 20}",
        ["7: hosts.client.mptcp.limits.subflows: 20: must be at most 8"],
    ),
    (
        "path_manager: fullmesh",
        "enabled: false",
        [
            "7: hosts.client.mptcp.enabled: is false, but variant mptcp opens MPTCP connections from client"
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "congestion_control: cubik",
        ['7: hosts.client.congestion_control: "cubik": did you mean "cubic"?'],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "sysctls: {kernel.panic: 1}",
        [
            "7: hosts.client.sysctls: kernel.panic is no sysctl of a network namespace, such as net.ipv4.tcp_rmem"
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "sysctls: {net.mptcp.enabled: 0}",
        ["7: hosts.client.sysctls: net.mptcp.enabled is set through the host's `mptcp` key"],
    ),
    (
        "      wifi: {}",
        "      wifi: {addresses: [10.0.1.2]}",
        [
            '5: hosts.client.interfaces.wifi.addresses.0: "10.0.1.2": needs the length of its prefix: did you mean "10.0.1.2/24"?'
        ],
    ),
    (
        "      wifi: {}",
        "      wifi: {addresses: [10.0.1.256/24]}",
        [
            '5: hosts.client.interfaces.wifi.addresses.0: "10.0.1.256/24": is no address: write it like "10.0.1.2/24" or "fd00:1::2/64"'
        ],
    ),
    (
        "      wifi: {}",
        "      wifi: {addresses: [10.0.1.0/24]}",
        [
            '5: hosts.client.interfaces.wifi.addresses.0: "10.0.1.0/24": is the network\'s own address; a host of 10.0.1.0/24 is another'
        ],
    ),
    (
        "      wifi: {}",
        "      wifi: {addresses: [10.9.0.2/24], family: ipv6}",
        ["5: hosts.client.interfaces.wifi.family: is ipv6, but 10.9.0.2/24 is not: write both"],
    ),
    (
        "      wifi: {}",
        "      wifi: {mtu: 100 B}",
        ['5: hosts.client.interfaces.wifi.mtu: "100 B": must be at least 576 B'],
    ),
    (
        "      wifi: {}",
        "      wifi: {family: ipv6, mtu: 1000 B}",
        ["5: hosts.client.interfaces.wifi.mtu: IPv6 needs at least 1280 B (RFC 8200, section 5)"],
    ),
    (
        "      eth: {}",
        "      eth: {mtu: 9000 B}",
        [
            "6: hosts.client.interfaces.eth.mtu: 9000 B, but server.eth at the other end of link eth has 1500 B: give both the same"
        ],
    ),
    (
        "  ap: {}",
        "  ap: {interfaces: {wlan: {mtu: 1400 B}}}",
        [
            "13: routers.ap.interfaces.wlan.mtu: 1400 B, but client.wifi at the other end of link wifi has 1500 B: give both the same"
        ],
    ),
    (
        "      wifi: {}\n      eth: {}\n    mptcp",
        "      wifi: {addresses: [10.9.0.2/24]}\n      eth: {addresses: [10.9.0.3/16]}\n    mptcp",
        [
            '6: hosts.client.interfaces.eth.addresses.0: "10.9.0.3/16": its network overlaps 10.9.0.0/24 of link wifi'
        ],
    ),
    (
        "      wifi: {}\n      eth: {}\n    mptcp",
        "      wifi: {addresses: [10.9.0.2/24]}\n      eth: {addresses: [10.9.0.2/24]}\n    mptcp",
        ['6: hosts.client.interfaces.eth.addresses.0: "10.9.0.2/24": client.wifi has it already'],
    ),
    (
        "      lan: {}\n      eth: {}",
        "      lan: {}\n      eth: {addresses: [10.9.0.2/24]}\n  client2:\n    interfaces: {eth: {}}",
        [
            "13: hosts.client2.interfaces.eth: no link names it: add one between client2.eth and another"
        ],
    ),
    (
        "      wifi: {}",
        "      wireless-interface: {}",
        [
            '5: hosts.client.interfaces.wireless-interface: "wireless-interface": an interface\'s name has at most 15 bytes'
        ],
    ),
    (
        "      wifi: {}",
        "      'wi fi': {}",
        [
            '5: hosts.client.interfaces.wi fi: "wi fi": a name has letters, digits, - and _ only and starts with neither of these'
        ],
    ),
    (
        "      wifi: {}",
        "      lo: {}",
        ['5: hosts.client.interfaces.lo: "lo": lo is the loopback interface, which every node has'],
    ),
    (
        "  ap: {}",
        "  server: {}",
        [
            "13: routers.server: there is a host of this name",
            '15: links.wifi.between.1: "ap.wlan": there is no node "ap": known: client, server',
            '16: links.lan.between.0: "ap.lan": there is no node "ap": known: client, server',
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "mptcp: {path_manager: default}\n  x:\n    interfaces: {a: {backup: true}}",
        ["9: hosts.x.interfaces.a: no link names it: add one between x.a and another"],
    ),
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
    ("duration: 10 s", "duration: 0 s", ['19: traffic.0.bulk.duration: "0 s": must be above 0']),
    (
        "duration: 10 s",
        "duration: 10 s, way: sideways",
        ['19: traffic.0.bulk.way: "sideways": known: up, down, both'],
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
            "19: traffic.0: an item of traffic has exactly one of: bulk, http, ftp, ping, request-response, datagrams, command"
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
        ['20: traffic.1.ping.name: "a" is the name of item 0 already'],
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
        "via: wifi",
        "via: wlan",
        ['23: variants.tcp-wifi.via: client has no interface "wlan": known: wifi, eth'],
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
            "24: variants.mptcp.set.links.eth.speed: unknown key: known: rate, trace, framing, delay, jitter, loss, reordering, duplication, queue, up, down, between, profile, duplex, offload, middleboxes"
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
        "mptcp: {}",
        "mptcp: {set: {traffic.0.bulk.duration: 2 s}}",
        ["21: events.0.at: 5 s is after the end of all traffic (2 s) (in variant mptcp)"],
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
    (
        "  eth: {between: [client.eth, server.eth], profile: ethernet-100}",
        "  eth: {between: [client.eth, other.eth], profile: ethernet-100}",
        [
            '17: links.eth.between.1: "other.eth": there is no node "other": known: client, server, ap'
        ],
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
    ("delay: 1 ms", "framing: 100 kB", ['15: links.wifi.framing: "100 kB": must be at most 10 kB']),
    (
        "delay: 1 ms}",
        "delay: 1 ms, between: 3}",
        ["15: links.wifi.between: given twice (first in line 15)"],
    ),
    (
        "events:\n  - {at",
        "events:\n  - {at: 1 s, link: eth, change: {rate: 10}}\n  - {at",
        ['21: events.0.change.rate: 10: a rate needs a unit: did you mean "10 Mbit/s"?'],
    ),
    (
        "    mptcp: {path_manager: fullmesh}",
        "    mptcp: {path_manager: {ndiffports: 3}, limits: {subflows: 1, add_addr_accepted: 0}}",
        [
            f"7: hosts.client.mptcp.limits.{key}: ndiffports has no limits, it opens as many subflows as it says: remove it"
            for key in ("add_addr_accepted", "subflows")
        ],
    ),
    (
        "  ap: {}",
        "  ap: {interfaces: {lan: {backup: true}}}",
        [
            "13: routers.ap.interfaces.lan.backup: ap is a router, which has no subflows: set it at a host's interface"
        ],
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
    (
        "path_manager: fullmesh",
        "scheduler: {name: blest, num_segments: 2}",
        ["7: hosts.client.mptcp.scheduler.num_segments: is an option of `name: round-robin`"],
    ),
    (
        "path_manager: fullmesh",
        "scheduler: {name: round-robin, num_segments: 0}",
        ["7: hosts.client.mptcp.scheduler.num_segments: 0: must be at least 1"],
    ),
    (
        "path_manager: fullmesh",
        "scheduler: {num_segments: 2}",
        ["7: hosts.client.mptcp.scheduler.name: missing: add `name: round-robin`"],
    ),
    (
        "path_manager: fullmesh",
        "scheduler: {name: redundant, opportunistic_retransmission: true}",
        [
            "7: hosts.client.mptcp.scheduler.opportunistic_retransmission: redundant sends everything on every subflow already: remove it"
        ],
    ),
    (
        "path_manager: fullmesh",
        "scheduler: {name: ecf, penalisation: true}",
        [
            "7: hosts.client.mptcp.scheduler.penalisation: comes after an opportunistic retransmission: add it, or remove this"
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{nat: {inside: server.lan}}]",
        [
            '15: links.wifi.middleboxes.0.nat.inside: "server.lan": is no end of link wifi: write client.wifi or ap.wlan'
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{nat: {}}]",
        ["15: links.wifi.middleboxes.0.nat.inside: missing: add `inside: client.wifi`"],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{nat: {inside: client.wifi, address: 10.9.9.9}}]",
        [
            '15: links.wifi.middleboxes.0.nat.address: "10.9.9.9": is not of link wifi: choose one of 10.0.1.0/24'
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{nat: {inside: client.wifi, address: 10.0.1.2}}]",
        ['15: links.wifi.middleboxes.0.nat.address: "10.0.1.2": is in use already: choose another'],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{nat: {inside: client.wifi, address: outside}}]",
        [
            '15: links.wifi.middleboxes.0.nat.address: "outside": is no address: write it like 10.0.1.9'
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{split: {payload: 700 B}, corrupt: {probability: 1 %}}]",
        [
            "15: links.wifi.middleboxes.0: a middlebox is exactly one of: nat, strip-options, split, coalesce, proxy-ack, drop-unknown-options, change-payload, corrupt"
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{strip-options: {options: [mptpc]}}]",
        [
            '15: links.wifi.middleboxes.0.strip-options.options.0: "mptpc": unknown TCP option: did you mean "mptcp"?'
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{strip-options: {options: [1]}}]",
        [
            "15: links.wifi.middleboxes.0.strip-options.options.0: 1: a TCP option is a name, such as mptcp or dss, or its kind from 2 to 255"
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{strip-options: {options: [mptcp, dss]}}]",
        [
            "15: links.wifi.middleboxes.0.strip-options.options: mptcp is all of its options: remove the others of it"
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{strip-options: {options: [mptcp], on: fin}}]",
        [
            '15: links.wifi.middleboxes.0.strip-options.on: "fin": known: syn, syn-ack, ack, data, all'
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{strip-option: {options: [mptcp]}}]",
        ['15: links.wifi.middleboxes.0.strip-option: unknown key: did you mean "strip-options"?'],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{split: {payload: 10 B}}]",
        ['15: links.wifi.middleboxes.0.split.payload: "10 B": must be at least 64 B'],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{corrupt: {probability: 0 %}}]",
        [
            "15: links.wifi.middleboxes.0.corrupt.probability: is 0: the box would do nothing: remove it"
        ],
    ),
    (
        "delay: 1 ms",
        "middleboxes: [{proxy-ack: {sender: client.eth}}]",
        [
            '15: links.wifi.middleboxes.0.proxy-ack.sender: "client.eth": is no end of link wifi: write client.wifi or ap.wlan'
        ],
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
    (
        "title: Two paths",
        "title: Two paths\nsample_interval: 1 us",
        ['2: sample_interval: "1 us": must be at least 1 ms'],
    ),
]


def test_the_good_file_is_good() -> None:
    assert loads(GOOD).title == "Two paths"


@pytest.mark.parametrize(("old", "new", "expected"), BAD, ids=[case[1][:60] for case in BAD])
def test_a_mistake_is_named_with_line_key_and_mend(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD
    with pytest.raises(ScenarioError) as caught:
        loads(GOOD.replace(old, new, 1), "x.yaml")
    assert [str(problem) for problem in caught.value.problems] == [f"x.yaml:{m}" for m in expected]


NO_RATE = GOOD.replace("rate: 48 Mbit/s, ", "")


def test_an_event_sets_no_queue_of_a_link_without_a_rate() -> None:
    event = "events:\n  - {at: 1 s, link: wifi, change: {up: {queue: 9 kB}}}\n"
    with pytest.raises(ScenarioError) as caught:
        loads(NO_RATE.replace("events:\n", event), "x.yaml")
    assert [str(problem) for problem in caught.value.problems] == [
        "x.yaml:21: events.0.change.up.queue: no packet waits for wifi, whose rate is unlimited: "
        "give it a rate"
    ]


def test_a_queue_is_accepted_where_an_event_gives_the_link_its_rate() -> None:
    event = "events:\n  - {at: 1 s, link: wifi, change: {rate: 5 Mbit/s}}\n"
    queue = NO_RATE.replace("delay: 1 ms", "delay: 1 ms, queue: 9 kB")
    assert loads(queue.replace("events:\n", event)).links["wifi"].queue is not None


def test_there_are_forty_and_more() -> None:
    assert len({new for _, new, _ in BAD}) > 40
