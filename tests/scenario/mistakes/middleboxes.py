"""Mistakes in middleboxes."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
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
            "15: links.wifi.middleboxes.0: a middlebox is exactly one of: nat, strip-options, split, coalesce, proxy-ack, drop-unknown-options, drop-syn-data, change-payload, corrupt"
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
]
