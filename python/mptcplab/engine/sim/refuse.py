"""What the sim engine refuses."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.engine.refusal import Refusal
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import FAMILIES, End, Network, build
from mptcplab.scenario.tree import Path

CONGESTION_CONTROLS = ("reno", "cubic", "lia", "olia", "balia", "wvegas")
"""Those of `crates/stack/src/congestion`."""
SYSCTLS = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_ecn")
"""Those of hosts that `crates/sim/src/host.rs` obeys."""


def impossible(scenario: Scenario) -> Iterator[Refusal]:
    """What this engine cannot do; `scenario` is as a variant makes it."""
    for index, item in enumerate(scenario.traffic):
        if item.command is not None:
            path: Path = ("traffic", index, "command")
            yield Refusal("the sim engine runs no programs", path, scenario)
    for kind, nodes, known in (
        ("hosts", scenario.hosts, SYSCTLS),
        ("routers", scenario.routers, ()),
    ):
        for name, node in nodes.items():
            for setting in node.sysctls:
                if setting not in known:
                    path = (kind, name, "sysctls", setting)
                    yield Refusal(f"the sim engine knows no sysctl {setting}", path, scenario)
    for name, host in scenario.hosts.items():
        control = host.congestion_control
        if control not in CONGESTION_CONTROLS:
            path = ("hosts", name, "congestion_control")
            yield Refusal(f"the sim engine has no congestion control {control}", path, scenario)
    yield from _narrow_paths(scenario)


def _narrow_paths(scenario: Scenario) -> Iterator[Refusal]:
    """Links between routers that carry less than both hosts beyond them would send at once."""
    network = build(scenario)
    for start in network.interfaces:
        if start.node in network.routers:
            continue
        for family in FAMILIES:
            for end, way in network.forwarding(start, family).items():
                largest = min(network.interfaces[start].mtu, network.interfaces[end].mtu)
                narrow = min(way, key=lambda crossed: network.interfaces[crossed].mtu)
                if end.node not in network.routers and network.interfaces[narrow].mtu < largest:
                    yield _narrow(scenario, network, narrow, f"from {start} to {end}")


def _narrow(scenario: Scenario, network: Network, end: End, way: str) -> Refusal:
    size = network.interfaces[end].mtu
    end, _ = network.links[network.link_of[end]]
    path = ("routers", end.node, "interfaces", end.interface, "mtu")
    reason = "the sim engine has no path MTU discovery"
    advice = f"Or give the hosts of the way {way} an mtu of {size} B too"
    return Refusal(reason, path, scenario, advice)
