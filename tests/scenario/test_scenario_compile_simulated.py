"""The plan of what only the simulator can do."""

from typing import Any

import pytest

from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import loads, with_duration

DIAMOND = """\
hosts:
  client: {interfaces: {a: {}}}
  server: {interfaces: {a: {}}}
routers:
  left: {ecmp: ECMP}
  upper: {}
  lower: {}
  right: {}
links:
  in: {between: [client.a, left.in]}
  lu: {between: [left.u, upper.l]}
  ll: {between: [left.l, lower.l]}
  ur: {between: [upper.r, right.u]}
  lr: {between: [lower.r, right.l]}
  out: {between: [right.out, server.a]}
traffic: [{bulk: {from: client, to: server, duration: 1 s}}]
"""
TWO_PATHS = """\
hosts:
  client: {interfaces: {a: {}, b: {}}CLIENT}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a]LINK}
  b: {between: [client.b, server.b]}
traffic:
  - bulk: {from: client, to: server, duration: 1 s}
MORE
"""


def two_paths(variant: str = "mptcp", **parts: str) -> Any:
    text = TWO_PATHS
    for mark in ("CLIENT", "LINK", "MORE"):
        text = text.replace(mark, parts.get(mark, ""))
    return compile_plan(loads(text), variant, seed=1).to_json()


def routes(ecmp: str, router: str) -> list[tuple[str, str]]:
    made = compile_plan(loads(DIAMOND.replace("ECMP", ecmp)), "mptcp", seed=1)
    (node,) = [node for node in made.nodes if node.name == router]
    return [(str(route.to.address), str(route.via)) for route in node.routes]


def test_a_router_has_one_way_unless_it_may_use_equal_ones() -> None:
    # The server's network is that of link 6; upper and lower are at 10.0.2.2 and 10.0.3.2.
    assert [via for to, via in routes("false", "left") if to == "10.0.6.0"] == ["10.0.2.2"]
    assert [via for to, via in routes("true", "left") if to == "10.0.6.0"] == [
        "10.0.2.2",
        "10.0.3.2",
    ]
    # To the network between upper and right there is one shortest way.
    assert [via for to, via in routes("true", "left") if to == "10.0.4.0"] == ["10.0.2.2"]


@pytest.mark.parametrize(
    ("box", "made"),
    [
        (
            "nat: {inside: server.a, address: 10.0.1.77}",
            {"kind": "nat", "inside": 1, "address": "10.0.1.77"},
        ),
        ("nat: {inside: client.a}", {"kind": "nat", "inside": 0, "address": "10.0.1.254"}),
        (
            "strip-options: {options: [mptcp, timestamps], on: syn-ack, direction: down}",
            {
                "kind": "strip_options",
                "kinds": [8, 30],
                "mptcp_subtypes": [],
                "on": "syn_ack",
                "direction": 1,
            },
        ),
        (
            "strip-options: {options: [dss, mp-join]}",
            {
                "kind": "strip_options",
                "kinds": [30],
                "mptcp_subtypes": [1, 2],
                "on": "all",
                "direction": None,
            },
        ),
        (
            "split: {payload: 700 B, direction: up}",
            {"kind": "split", "payload_bytes": 700, "direction": 0},
        ),
        (
            "coalesce: {payload: 4 kB}",
            {
                "kind": "coalesce",
                "payload_bytes": 4000,
                "hold_ns": 1_000_000,
                "direction": None,
            },
        ),
        ("proxy-ack: {sender: server.a}", {"kind": "proxy_ack", "sender": 1}),
        (
            "drop-unknown-options: {on: syn}",
            {"kind": "drop_unknown_options", "on": "syn", "direction": None},
        ),
        (
            "drop-syn-data: {segment: true, direction: up}",
            {"kind": "drop_syn_data", "segment": True, "direction": 0},
        ),
        (
            "change-payload: {probability: 1 %}",
            {"kind": "change_payload", "probability": 0.01, "direction": None},
        ),
        (
            "corrupt: {probability: 1 %}",
            {"kind": "corrupt", "probability": 0.01, "direction": None},
        ),
    ],
)
def test_a_middlebox_reaches_the_plan(box: str, made: object) -> None:
    first, second = two_paths(LINK=f", middleboxes: [{{{box}}}]")["links"]
    assert first["middleboxes"] == [made]
    assert second["middleboxes"] == []


def test_two_nats_of_a_link_get_two_addresses() -> None:
    boxes = ", middleboxes: [{nat: {inside: client.a}}, {nat: {inside: server.a}}]"
    made = [box["address"] for box in two_paths(LINK=boxes)["links"][0]["middleboxes"]]
    assert made == ["10.0.1.254", "10.0.1.253"]


def test_a_scheduler_with_its_options_reaches_the_plan() -> None:
    options = "{name: round-robin, num_segments: 2, cwnd_limited: false, "
    options += "opportunistic_retransmission: true, penalisation: true}"
    made = two_paths(CLIENT=f", mptcp: {{scheduler: {options}}}")["nodes"][0]["mptcp"]
    assert made["scheduler"] == "round-robin"
    assert made["scheduler_options"] == {
        "num_segments": 2,
        "cwnd_limited": False,
        "opportunistic_retransmission": True,
        "penalisation": True,
    }


def test_an_application_that_manages_the_paths_has_no_endpoints() -> None:
    made = two_paths(CLIENT=", mptcp: {path_manager: application}")
    client = made["nodes"][0]
    assert [interface["endpoint"] for interface in client["interfaces"]] == [None, None]
    assert client["mptcp"]["limit_add_addr_accepted"] == 0
    assert client["mptcp"]["by_application"]
    assert made["traffic"][0]["expected_joins"] == 0


def test_an_application_opens_subflows_to_an_address_that_it_reaches() -> None:
    manager = ", mptcp: {path_manager: application}"
    text = TWO_PATHS.replace("duration: 1 s}", "duration: 1 s, subflows: client.b}")
    for mark, made_of in (("CLIENT", manager), ("LINK", ""), ("MORE", "")):
        text = text.replace(mark, made_of)
    (traffic,) = compile_plan(loads(text), "mptcp", seed=1).to_json()["traffic"]
    # The connection itself goes to 10.0.1.2.
    assert traffic["subflows"] == [{"source": "10.0.2.1", "target": "10.0.2.2"}]
    assert traffic["expected_joins"] == 1


EVENTS = """\
events:
  - {at: 100 ms, subflow: {of: bulk, from: client.b, to: server.b}, up: true}
  - {at: 200 ms, subflow: {of: bulk, from: client.a, to: server.a}, up: false}
variants: {tcp: {protocol: tcp}, mptcp: {}}
"""


def test_events_open_and_close_subflows_of_mptcp_connections_only() -> None:
    opened, closed = two_paths(MORE=EVENTS)["events"]
    assert opened["label"] == "subflow client.b → server.b of bulk opened"
    assert opened["action"] == {
        "kind": "subflow",
        "traffic": 0,
        "source": "10.0.2.1",
        "target": "10.0.2.2",
        "open": True,
    }
    assert (closed["action"]["source"], closed["action"]["open"]) == ("10.0.1.1", False)
    assert two_paths("tcp", MORE=EVENTS)["events"] == []


def test_the_time_limit_knows_the_rate_of_the_sender() -> None:
    size = "bulk: {from: client, to: server, size: 1 MB, rate: 1 Mbit/s}"
    text = TWO_PATHS.replace("bulk: {from: client, to: server, duration: 1 s}", size)
    for mark in ("CLIENT", "LINK", "MORE"):
        text = text.replace(mark, "")
    made = compile_plan(loads(text), "mptcp", seed=1).to_json()
    # Ten times 8 s, and a minute.
    assert made["time_limit_ns"] == 140_000_000_000


def test_a_new_duration_is_one_of_the_datagrams_too() -> None:
    cross = "  - datagrams: {from: client, to: server, rate: 1 Mbit/s, start: 200 ms, "
    text = TWO_PATHS.replace("MORE", cross + "duration: 500 ms}")
    for mark in ("CLIENT", "LINK"):
        text = text.replace(mark, "")
    made = compile_plan(with_duration(loads(text), 10_000_000_000), "mptcp", seed=1)
    assert made.traffic[1].start_ns == 2_000_000_000
    assert made.traffic[1].duration_ns == 5_000_000_000


def test_a_new_duration_moves_the_events_that_a_variant_sets() -> None:
    text = TWO_PATHS.replace("MORE", "variants: {a: {}, b: {set: {events: [EVENT]}}}")
    text = text.replace("EVENT", "{at: 500 ms, link: a, up: false}")
    for mark in ("CLIENT", "LINK"):
        text = text.replace(mark, "")
    scenario = with_duration(loads(text), 4_000_000_000)
    (event,) = compile_plan(scenario, "b", seed=1).to_json()["events"]
    assert event["at_ns"] == 2_000_000_000
    assert compile_plan(scenario, "a", seed=1).to_json()["events"] == []
