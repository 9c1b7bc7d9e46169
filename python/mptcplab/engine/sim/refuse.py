"""Refusals of the sim engine."""

from __future__ import annotations

from collections.abc import Container, Iterator

from mptcplab.engine.refusal import Refusal
from mptcplab.scenario.host import CONGESTION_CONTROLS as KNOWN_CONTROLS
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import FAMILIES, End, Network, build
from mptcplab.scenario.scheduler import SCHEDULERS
from mptcplab.scenario.tree import Path

CONGESTION_CONTROLS = ("reno", "cubic", "lia", "olia", "balia", "wvegas")
"""Those of `crates/protocol/stack/src/congestion`."""
SYSCTLS = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_ecn")
"""Those of hosts that `crates/lab/engine-sim/src/node/host.rs` applies."""

_IN_PYTHON = "Or write it in Python (docs/howto)"


def unsupported(scenario: Scenario, supplied: Container[str] = ()) -> Iterator[Refusal]:
    """Settings that this engine cannot honour; `scenario` is as a variant makes it.

    It has the congestion controls of the names `supplied`, too.
    """
    for index, item in enumerate(scenario.traffic):
        if item.command is not None:
            path: Path = ("traffic", index, "command")
            yield Refusal("the sim engine runs no programs", path, scenario)
    controller = scenario.controller
    if controller is not None and controller.command is not None:
        yield Refusal("the sim engine runs no programs", ("controller", "command"), scenario)
    if controller is not None and controller.address is not None:
        reason = "the sim engine's virtual time waits for no controller at an address"
        yield Refusal(reason, ("controller", "address"), scenario)
    for name, switch in scenario.switches.items():
        if switch.kind == "openvswitch":
            path = ("switches", name, "kind")
            yield Refusal("the sim engine runs no Open vSwitch", path, scenario)
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
        if control not in CONGESTION_CONTROLS and control not in supplied:
            path = ("hosts", name, "congestion_control")
            reason = f"the sim engine has no congestion control {control}"
            if control in KNOWN_CONTROLS:
                yield Refusal(reason, path, scenario)
            else:
                reason += f" (it has: {' '.join(CONGESTION_CONTROLS)})"
                yield Refusal(reason, path, scenario, _IN_PYTHON)
        scheduler = host.mptcp.scheduler
        if scheduler is not None and scheduler.name not in SCHEDULERS:
            path = ("hosts", name, "mptcp", "scheduler")
            names = " ".join(SCHEDULERS)
            reason = f"the sim engine has no MPTCP scheduler {scheduler.name} (it has: {names})"
            yield Refusal(reason, path, scenario, _IN_PYTHON)
    yield from _narrow_paths(scenario)


def _narrow_paths(scenario: Scenario) -> Iterator[Refusal]:
    """Links between routers that carry less than both hosts beyond them would send at once."""
    network = build(scenario)
    for start in network.interfaces:
        if start.node in network.routers | network.switches:
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
