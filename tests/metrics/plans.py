"""Plans for recordings made by hand: a client and a server on two disjoint networks."""

from mptcplab.recording.manifest import Json


def two_paths(
    *events: Json, workload: Json | None = None, expected_joins: int = 1, traffic: str = "bulk"
) -> Json:
    return {
        "seed": 7,
        "nodes": [
            {
                "name": "client",
                "interfaces": [interface("wifi", "10.0.1.1"), interface("eth", "10.0.2.1")],
            },
            {
                "name": "server",
                "interfaces": [interface("wifi", "10.0.1.2"), interface("eth", "10.0.2.2")],
            },
        ],
        "links": [
            {"name": "air", "ends": [end(0, 0), end(1, 0)], "config": {}},
            {"name": "eth", "ends": [end(0, 1), end(1, 1)], "config": {}},
        ],
        "traffic": [
            {
                "name": traffic,
                "client": 0,
                "start_ns": 0,
                "server": 1,
                "expected_joins": expected_joins,
                "workload": workload
                or {
                    "kind": "bulk",
                    "way": "down",
                    "streams": 1,
                    "duration_ns": 20_000_000_000,
                    "bytes": None,
                },
            }
        ],
        "events": list(events),
    }


def interface(name: str, address: str) -> Json:
    return {"name": name, "addresses": [{"address": address, "length": 24}]}


def end(node: int, index: int) -> Json:
    return {"node": node, "interface": index}


def carrier(at_ns: int, label: str, link: int, up: bool) -> Json:
    action: Json = {"kind": "link", "link": link, "change": {"up": up}, "carrier": up}
    return {"at_ns": at_ns, "label": label, "action": action}


def rate_change(at_ns: int, label: str, link: int) -> Json:
    change: Json = {"rate": {"kind": "fixed", "bits_per_second": 10_000_000}, "up": None}
    action: Json = {"kind": "link", "link": link, "change": change, "carrier": None}
    return {"at_ns": at_ns, "label": label, "action": action}
