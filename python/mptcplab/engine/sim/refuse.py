"""What the sim engine refuses."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.engine.refusal import Refusal
from mptcplab.scenario.model import Scenario
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
