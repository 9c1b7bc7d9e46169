"""Mistakes in hosts and routers."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "      wifi: {}",
        "      wifi: {adress_delay: 3 s}",
        [
            '5: hosts.client.interfaces.wifi.adress_delay: unknown key: did you mean "address_delay"?'
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "mptcp: {enabled: yes}",
        ['7: hosts.client.mptcp.enabled: "yes": expected true or false'],
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
        "congestion_control: my cc",
        [
            '7: hosts.client.congestion_control: "my cc": a name has letters, digits and _ . + - only and starts with a letter or digit'
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "congestion_control: -mine",
        [
            '7: hosts.client.congestion_control: "-mine": a name has letters, digits and _ . + - only and starts with a letter or digit'
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        'congestion_control: "mine\\n"',
        [
            '7: hosts.client.congestion_control: "mine\\n": a name has letters, digits and _ . + - only and starts with a letter or digit'
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "congestion_control: abcdefghijklmnop",
        [
            '7: hosts.client.congestion_control: "abcdefghijklmnop": a name has at most 15 characters in Linux'
        ],
    ),
    (
        "mptcp: {path_manager: fullmesh}",
        "congestion_control: 5",
        ["7: hosts.client.congestion_control: 5: expected text"],
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
]
