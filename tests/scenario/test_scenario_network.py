from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import ScenarioError, load, loads
from mptcplab.scenario.network import build

TRAFFIC = "traffic: [{ping: {from: client, to: server}}]\n"
DIRECT = """\
hosts:
  client: {{interfaces: {{eth: {client}}}{host}}}
  server: {{interfaces: {{eth: {server}}}}}
links:
  eth: {{between: [client.eth, server.eth]}}
traffic: [{{bulk: {{from: client, to: server, duration: 1 s}}}}]
"""


def plan(text: str) -> Any:
    return compile_plan(loads(text), "mptcp", seed=1).to_json()


def direct(client: str = "{}", server: str = "{}", host: str = "") -> Any:
    return plan(DIRECT.format(client=client, server=server, host=host))


def node(made: Any, name: str) -> Any:
    return next(node for node in made["nodes"] if node["name"] == name)


def addresses(made: Any, name: str) -> list[str]:
    return [
        f"{address['address']}/{address['length']}"
        for interface in node(made, name)["interfaces"]
        for address in interface["addresses"]
    ]


def routes(made: Any, name: str) -> list[str]:
    return [
        f"{route['to']['address']}/{route['to']['length']} via {route['via']}"
        for route in node(made, name)["routes"]
    ]


def test_a_link_is_a_network_numbered_in_the_scenarios_order() -> None:
    made = compile_plan(load("lisbon/A1"), "mptcp", seed=1).to_json()
    assert addresses(made, "client") == ["10.0.1.1/24", "10.0.3.1/24"]
    assert addresses(made, "server") == ["10.0.2.2/24", "10.0.3.2/24"]
    assert addresses(made, "ap") == ["10.0.1.2/24", "10.0.2.1/24"]


@pytest.mark.parametrize(
    ("family", "client", "target"),
    [
        ("ipv4", ["10.0.1.1/24"], "10.0.1.2"),
        ("ipv6", ["fd00:1::1/64"], "fd00:1::2"),
        ("both", ["10.0.1.1/24", "fd00:1::1/64"], "10.0.1.2"),
    ],
)
def test_families(family: str, client: list[str], target: str) -> None:
    made = direct(f"{{family: {family}}}", f"{{family: {family}}}")
    assert addresses(made, "client") == client
    assert made["traffic"][0]["target"] == target


def test_given_addresses_are_kept_and_their_network_is_the_links() -> None:
    made = direct("{addresses: [192.168.7.9/28]}")
    assert addresses(made, "client") == ["192.168.7.9/28"]
    assert addresses(made, "server") == ["192.168.7.2/28"]


def test_a_family_without_a_given_address_is_assigned_one() -> None:
    made = direct("{family: both, addresses: [192.168.7.9/28]}", "{family: both}")
    assert addresses(made, "client") == ["192.168.7.9/28", "fd00:1::1/64"]
    assert addresses(made, "server") == ["192.168.7.2/28", "fd00:1::2/64"]


def test_assigned_addresses_keep_out_of_given_ones() -> None:
    made = direct("{addresses: [10.9.0.2/24]}")
    assert addresses(made, "server") == ["10.9.0.1/24"]
    text = """\
hosts:
  client: {interfaces: {x: {addresses: [10.0.1.9/16]}, y: {}}}
  server: {interfaces: {x: {}, y: {}}}
links:
  x: {between: [client.x, server.x]}
  y: {between: [client.y, server.y]}
"""
    made = plan(text + TRAFFIC)
    assert addresses(made, "client") == ["10.0.1.9/16", "10.1.2.1/24"]


def test_routers_carry_the_families_of_those_beyond() -> None:
    text = """\
hosts:
  client: {interfaces: {x: {family: ipv6}}}
  server: {interfaces: {x: {family: both}}}
routers: {r: {}, s: {}}
links:
  a: {between: [client.x, r.a]}
  b: {between: [r.b, s.a]}
  c: {between: [s.b, server.x]}
"""
    made = plan(text + TRAFFIC)
    assert addresses(made, "r") == ["fd00:1::2/64", "10.0.2.1/24", "fd00:2::1/64"]
    assert addresses(made, "s") == ["10.0.2.2/24", "fd00:2::2/64", "10.0.3.1/24", "fd00:3::1/64"]
    assert made["traffic"][0]["target"] == "fd00:3::2"
    assert routes(made, "r") == ["10.0.3.0/24 via 10.0.2.2", "fd00:3::/64 via fd00:2::2"]


def test_a_host_has_the_router_beyond_each_link_as_gateway() -> None:
    client = node(compile_plan(load("lisbon/A1"), "mptcp", seed=1).to_json(), "client")
    assert [interface["gateways"] for interface in client["interfaces"]] == [["10.0.1.2"], []]
    assert client["routes"] == []


def test_a_host_has_routes_to_what_its_default_gateway_does_not_reach() -> None:
    made = compile_plan(load("birzeit/long-equal"), "mptcp", seed=1).to_json()
    # The first path is 10.0.1 to 10.0.3, behind the first gateway; the second has links 4 to 6.
    assert routes(made, "client") == [f"10.0.{n}.0/24 via 10.0.4.2" for n in (5, 6)]


def test_routers_in_a_row_know_all_networks() -> None:
    made = compile_plan(load("carfi/netcat-topology"), "application-opened", seed=1).to_json()
    assert routes(made, "r1") == [
        "10.0.2.0/24 via 10.0.7.2",
        "10.0.3.0/24 via 10.0.7.2",
        "10.0.5.0/24 via 10.0.7.2",
        "10.0.6.0/24 via 10.0.7.2",
        "10.0.8.0/24 via 10.0.7.2",
    ]
    assert made["traffic"][0]["target"] == "10.0.4.7"
    assert made["traffic"][0]["expected_joins"] == 2
    assert made["traffic"][0]["subflows"] == [
        {"source": "10.0.2.6", "target": "10.0.4.7"},
        {"source": "10.0.3.6", "target": "10.0.4.7"},
    ]


FULLMESH = {"subflow": True, "fullmesh": True}


@pytest.mark.parametrize(
    ("host", "endpoint", "per_pair", "accepted"),
    [
        ("", FULLMESH, 1, 8),
        (", mptcp: {path_manager: fullmesh}", FULLMESH, 1, 8),
        (", mptcp: {path_manager: signal}", {"signal": True}, 1, 8),
        (", mptcp: {path_manager: default}", None, 1, 0),
        (", mptcp: {path_manager: default, limits: {add_addr_accepted: 2}}", None, 1, 2),
        (", mptcp: {path_manager: {ndiffports: 3}}", None, 3, 0),
    ],
)
def test_path_managers(host: str, endpoint: object, per_pair: int, accepted: int) -> None:
    made = direct(host=host)
    client = node(made, "client")
    assert client["interfaces"][0]["endpoint"] == endpoint
    assert client["mptcp"]["subflows_per_pair"] == per_pair
    assert client["mptcp"]["limit_add_addr_accepted"] == accepted
    assert node(made, "server")["interfaces"][0]["endpoint"] == {"signal": True}
    assert made["traffic"][0]["expected_joins"] == per_pair - 1


def test_the_other_settings_of_a_host() -> None:
    made = direct(
        "{backup: true, mtu: 1400 B, address_delay: 3.5 s}",
        "{mtu: 1400 B}",
        host=", congestion_control: reno, sysctls: {net.ipv4.tcp_sack: 0}, mptcp: {limits: "
        "{subflows: 2}, checksum: true, syn_retries: 3, scheduler: default}",
    )
    client = node(made, "client")
    (interface,) = client["interfaces"]
    assert interface["endpoint"] == FULLMESH | {"backup": True}
    assert (interface["mtu"], interface["address_delay_ns"]) == (1400, 3_500_000_000)
    assert client["sysctls"] == {"net.ipv4.tcp_sack": "0"}
    assert client["mptcp"] == {
        "enabled": True,
        "checksum": True,
        "syn_retries": 3,
        "scheduler": "default",
        "scheduler_options": {
            "num_segments": 1,
            "cwnd_limited": True,
            "opportunistic_retransmission": False,
            "penalisation": False,
        },
        "subflows_per_pair": 1,
        "limit_subflows": 2,
        "limit_add_addr_accepted": 8,
        "by_application": False,
    }
    (flow,) = made["traffic"]
    assert (flow["congestion_control"], flow["server_congestion_control"]) == ("reno", "cubic")


def joins(change: tuple[str, str], name: str = "lisbon/A1") -> int:
    scenario = loads(load(name).text.replace(*change))
    return compile_plan(scenario, "mptcp", seed=1).traffic[0].expected_joins


def test_joins_are_expected_of_interfaces_that_reach_the_server_only() -> None:
    assert joins(("", "")) == 1
    off = "server: {interfaces: {lan: {}, eth: {}}, mptcp: {enabled: false}}"
    assert joins(("server: {interfaces: {lan: {}, eth: {}}}", off)) == 0
    none = "server: {interfaces: {lan: {}, eth: {}}, mptcp: {limits: {subflows: 0}}}"
    assert joins(("server: {interfaces: {lan: {}, eth: {}}}", none)) == 0
    stray = "client: {interfaces: {wifi: {}, eth: {}, x: {}}}\n  other: {interfaces: {x: {}}}"
    text = load("lisbon/A1").text.replace("client: {interfaces: {wifi: {}, eth: {}}}", stray)
    text = text.replace("links:\n", "links:\n  x: {between: [client.x, other.x]}\n")
    assert compile_plan(loads(text), "mptcp", seed=1).traffic[0].expected_joins == 1


def test_no_more_joins_are_expected_than_the_server_takes() -> None:
    text = DIRECT.format(client="{}", server="{}", host=", mptcp: {path_manager: {ndiffports: 4}}")
    few = text.replace("eth: {}}}\nlinks", "eth: {}}, mptcp: {limits: {subflows: 2}}}\nlinks")
    assert [plan(made)["traffic"][0]["expected_joins"] for made in (text, few)] == [3, 2]


def test_no_join_is_expected_of_an_interface_of_another_family() -> None:
    text = """\
hosts:
  client: {interfaces: {a: {family: both}, b: {family: FAMILY}}}
  server: {interfaces: {a: {family: both}, b: {family: both}}}
links: {a: {between: [client.a, server.a]}, b: {between: [client.b, server.b]}}
traffic: [{bulk: {from: client, to: server, duration: 1 s}}]
"""
    for family, joins in (("ipv6", 0), ("ipv4", 1), ("both", 1)):
        made = plan(text.replace("FAMILY", family))
        assert made["traffic"][0]["expected_joins"] == joins


EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9)


def topology(edges: list[tuple[int, int]]) -> tuple[str, nx.Graph[str]]:
    """Routers joined at random; the client at router 0, the server at router 5."""
    graph: nx.Graph[str] = nx.Graph([("client", "r0"), ("r5", "server")])
    links = ["  in: {between: [client.x, r0.in]}", "  out: {between: [r5.out, server.x]}"]
    for number, (a, b) in enumerate(edges):
        if a != b:
            graph.add_edge(f"r{a}", f"r{b}")
            links.append(f"  l{number}: {{between: [r{a}.a{number}, r{b}.b{number}]}}")
    routers = ", ".join(f"{name}: {{}}" for name in graph if name not in ("client", "server"))
    hosts = "hosts: {client: {interfaces: {x: {}}}, server: {interfaces: {x: {}}}}\n"
    return f"{hosts}routers: {{{routers}}}\nlinks:\n" + "\n".join(links) + "\n" + TRAFFIC, graph


def prefix(made: Any) -> IPv4Network | IPv6Network:
    return ip_network(f"{made['address']}/{made['length']}", strict=False)


def hops(made: Any, target: str) -> int:
    """Follows the plan's routes from the client to the target; the number of links crossed."""
    owner = {
        address["address"]: node["name"]
        for node in made["nodes"]
        for interface in node["interfaces"]
        for address in interface["addresses"]
    }
    here, crossed = "client", 0
    while here != "server":
        at = node(made, here)
        own = [prefix(a) for interface in at["interfaces"] for a in interface["addresses"]]
        via = target
        if not any(ip_address(target) in net for net in own):
            via = (
                next(
                    (
                        route["via"]
                        for route in at["routes"]
                        if ip_address(target)
                        in ip_network(f"{route['to']['address']}/{route['to']['length']}")
                    ),
                    None,
                )
                or at["interfaces"][0]["gateways"][0]
            )
        here, crossed = owner[via], crossed + 1
        assert crossed < 20, "the routes go round in circles"
    return crossed


@settings(max_examples=60, deadline=None)
@given(EDGES)
def test_routes_are_shortest_ways_wherever_the_graph_has_one(edges: list[tuple[int, int]]) -> None:
    text, graph = topology(edges)
    if nx.has_path(graph, "client", "server"):
        made = plan(text)
        expected = nx.shortest_path_length(graph, "client", "server")
        assert hops(made, made["traffic"][0]["target"]) == expected
    else:
        with pytest.raises(ScenarioError, match="no way from client to server"):
            loads(text)


def test_every_interface_has_addresses() -> None:
    network = build(load("lisbon/A8"))
    given = [address for addresses in network.addresses.values() for address in addresses]
    assert len(network.addresses) == len(network.interfaces) == 2 * len(network.links)
    assert len({address.ip for address in given}) == len(given)
