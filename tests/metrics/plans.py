"""Plans for recordings made by hand: a client and a server on two disjoint networks."""

from mptcplab.recording.manifest import Json

_WORKLOADS: dict[str, Json] = {
    "bulk": {
        "kind": "bulk",
        "way": "down",
        "streams": 1,
        "duration_ns": 20_000_000_000,
        "bytes": None,
    },
    "datagrams": {
        "kind": "datagrams",
        "way": "down",
        "rate_bps": 1_000_000,
        "packet_bytes": 1000,
        "duration_ns": 20_000_000_000,
        "on_off_ns": None,
    },
    "http": {},
    "stream": {},
    "command": {"argv": ["true"], "server_argv": None, "duration_ns": None},
}


def two_paths(
    *events: Json, workload: Json | None = None, expected_joins: int = 1, traffic: str = "bulk"
) -> Json:
    kind = "bulk" if workload is None else str(workload["kind"])
    return {
        "seed": 7,
        "nodes": [
            node("client", interface("wifi", "10.0.1.1"), interface("eth", "10.0.2.1")),
            node("server", interface("wifi", "10.0.1.2"), interface("eth", "10.0.2.2")),
        ],
        "links": [
            link("air", end(0, 0), end(1, 0)),
            link("eth", end(0, 1), end(1, 1)),
        ],
        "traffic": [
            {
                "name": traffic,
                "client": 0,
                "server": 1,
                "protocol": "mptcp",
                "source": None,
                "target": "10.0.1.2",
                "port": 5001,
                "start_ns": 0,
                "congestion_control": "cubic",
                "server_congestion_control": "cubic",
                "expected_joins": expected_joins,
                "workload": _WORKLOADS[kind] | (workload or {}),
            }
        ],
        "events": list(events),
        "sample_interval_ns": 100_000_000,
        "capture": None,
        "time_limit_ns": 60_000_000_000,
    }


def node(name: str, *interfaces: Json) -> Json:
    return {
        "name": name,
        "router": False,
        "interfaces": list(interfaces),
        "routes": [],
        "mptcp": {
            "enabled": True,
            "checksum": False,
            "syn_retries": None,
            "scheduler": None,
            "subflows_per_pair": 1,
            "limit_subflows": 8,
            "limit_add_addr_accepted": 8,
        },
        "sysctls": {},
    }


def interface(name: str, *addresses: str) -> Json:
    return {
        "name": name,
        "addresses": [{"address": address, "length": 24} for address in addresses],
        "gateways": [],
        "mtu": 1500,
        "address_delay_ns": 0,
        "endpoint": None,
    }


def link(name: str, first: Json, second: Json, rate: Json | None = None) -> Json:
    direction = {
        "rate": rate or {"kind": "unlimited"},
        "framing_bytes": 0,
        "delay_ns": 0,
        "jitter": {"kind": "none"},
        "loss": {"kind": "none"},
        "reordering": None,
        "duplication": 0.0,
        "queue": {
            "limit_packets": None,
            "limit_bytes": None,
            "discipline": {"kind": "drop_tail"},
        },
        "up": True,
    }
    config = {"duplex": "full", "directions": [direction, direction]}
    return {"name": name, "ends": [first, second], "config": config, "offload": False}


def end(node: int, index: int) -> Json:
    return {"node": node, "interface": index}


def carrier(at_ns: int, label: str, link: int, up: bool) -> Json:
    action: Json = {"kind": "link", "link": link, "change": {"up": up}, "carrier": up}
    return {"at_ns": at_ns, "label": label, "action": action}


def rate_change(at_ns: int, label: str, link: int) -> Json:
    change: Json = {"rate": {"kind": "fixed", "bits_per_second": 10_000_000}, "up": None}
    action: Json = {"kind": "link", "link": link, "change": change, "carrier": None}
    return {"at_ns": at_ns, "label": label, "action": action}
