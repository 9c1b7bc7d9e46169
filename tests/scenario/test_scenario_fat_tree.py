from collections import defaultdict
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest

from mptcplab.engine.compile import compile_plan
from mptcplab.plan import Plan
from mptcplab.plan.node import Prefix
from mptcplab.scenario import ScenarioError, for_variant, loads, with_overrides
from mptcplab.scenario.drawn import Draw, servers

TEXT = """
topology:
  fat-tree:
    k: 4
    link: {rate: 100 Mbit/s, delay: 20 us}
traffic:
  - bulk: {from: "h*", to: {draw: permutation}, direction: up, duration: 1 s}
variants:
  two: {set: {topology.fat-tree.host.mptcp.path_manager: {ndiffports: 2}}}
"""
PAIRS = 'from: "h*", to: {draw: permutation}'


def ways(plan: Plan, start: int, end: int) -> int:
    """Number of ways that packets of one host can take to another."""
    owner = {
        prefix.address: index
        for index, node in enumerate(plan.nodes)
        for interface in node.interfaces
        for prefix in interface.addresses
    }
    target = plan.nodes[end].interfaces[0].addresses[0].address
    counts: defaultdict[int, int] = defaultdict(int)
    counts[owner[plan.nodes[start].interfaces[0].gateways[0]]] = 1
    arrived = 0
    for _ in range(6):
        after: defaultdict[int, int] = defaultdict(int)
        for node, count in counts.items():
            routes = [route for route in plan.nodes[node].routes if holds(route.to, target)]
            if not routes:
                arrived += count
            for route in routes:
                after[owner[route.via]] += count
        counts = after
    return arrived


def holds(prefix: Prefix, address: IPv4Address | IPv6Address) -> bool:
    return address in ip_network(f"{prefix.address}/{prefix.length}")


def test_a_fat_tree_has_its_hosts_routers_links_and_equal_ways() -> None:
    scenario = loads(TEXT)
    assert len(scenario.hosts) == 16
    assert len(scenario.routers) == 20
    assert len(scenario.links) == 48
    plan = compile_plan(scenario, "two", seed=1)
    assert [ways(plan, 0, end) for end in (1, 2, 15)] == [1, 2, 4]
    assert all(flow.expected_joins == 1 for flow in plan.traffic)


def test_variants_and_overrides_change_the_tree() -> None:
    scenario = with_overrides(loads(TEXT), {"topology.fat-tree.k": 6})
    assert len(scenario.hosts) == 54
    manager = for_variant(scenario, "two").hosts["h53"].mptcp.path_manager
    assert manager is not None
    assert manager.subflows_per_pair == 2


def test_what_is_written_beside_the_tree_wins_over_it() -> None:
    text = f"{TEXT}links: {{agg0-0-core1: {{rate: 10 Mbit/s}}}}\n"
    text += "events: [{at: 500 ms, link: edge0-0-agg0-1, up: false}]\n"
    scenario = loads(text)
    assert scenario.links["agg0-0-core1"].rate == 10_000_000
    assert scenario.links["agg0-0-core1"].between == ["agg0-0.core1", "core1.agg0-0"]
    assert scenario.links["agg0-0-core0"].rate == 100_000_000


@pytest.mark.parametrize("kind", ["permutation", "random"])
def test_a_draw_pairs_clients_with_others_of_them(kind: str) -> None:
    clients = [f"h{number}" for number in range(20)]
    draws = [servers(Draw.model_validate({"draw": kind, "seed": seed}), clients) for seed in (1, 2)]
    assert draws[0] != draws[1]
    for drawn in draws:
        assert all(one != other for one, other in zip(clients, drawn, strict=True))
        assert (sorted(drawn) == sorted(clients)) == (kind == "permutation")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k: 4", "k: 5", "topology.fat-tree.k: 5: k is an even number from 2 to 16"),
        ("k: 4", "k: 1000", "topology.fat-tree.k: 1000: k is an even number from 2 to 16"),
        ("rate: 100 Mbit/s", "rate: 100", "topology.fat-tree.link.rate: "),
        (PAIRS, 'from: "x*", to: h1', 'traffic.0.bulk.from: there is no host "x*"'),
        (PAIRS, 'from: "h*", to: {draw: none}', "traffic.0.bulk.to: a draw among several"),
        (PAIRS, "from: h1, to: {draw: random}", "traffic.0.bulk.to: a draw among several"),
        (PAIRS, "from: [h1, h2, h3], to: [h4, h5]", "traffic.0.bulk.to: has 2 servers for 3"),
        (PAIRS, "from: [h1, h2], to: [h3, h2]", 'traffic.0.bulk.to: "h2" is the client itself'),
    ],
)
def test_mistakes_are_told_once_and_at_their_place(old: str, new: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(TEXT.replace(old, new))
    (problem,) = caught.value.problems
    assert message in str(problem)


def test_switches_take_the_places_of_routers() -> None:
    text = TEXT.replace("    k: 4\n", "    k: 4\n    switches: true\n")
    scenario = loads(f"{text}controller: least-used\n")
    assert not scenario.routers
    assert set(scenario.switches) == set(loads(TEXT).routers)
    assert scenario.links.keys() == loads(TEXT).links.keys()
    with pytest.raises(ScenarioError, match="no controller tells them where packets go"):
        loads(text)
