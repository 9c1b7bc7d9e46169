"""Whether what a scenario refers to exists: nodes, interfaces, files of traces."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.scenario.fields import check_interface_name
from mptcplab.scenario.link import LinkSettings
from mptcplab.scenario.mahimahi import TraceError
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.problem import Problem, did_you_mean, quoted
from mptcplab.scenario.replayed import opportunities_ms
from mptcplab.scenario.tree import Path


def unknown_end(scenario: Scenario, text: str, *, routers: bool) -> str | None:
    """The mistake in `node.interface`, None where it is known.

    With `routers` those of routers and switches are known, too.
    """
    node, dot, interface = text.partition(".")
    if not dot:
        return "write it as node.interface, such as client.eth"
    if node in scenario.hosts:
        known = scenario.hosts[node].interfaces
        if interface not in known:
            return f"{node} has no interface {quoted(interface)}: {did_you_mean(interface, known)}"
        return None
    if node in scenario.routers or node in scenario.switches:
        if not routers:
            kind = "router" if node in scenario.routers else "switch"
            return f"{node} is a {kind}; this takes a host's interface"
        try:
            check_interface_name(interface)
        except ValueError as error:
            return str(error)
        return None
    nodes = [*scenario.hosts, *((*scenario.routers, *scenario.switches) if routers else ())]
    return f"there is no node {quoted(node)}: {did_you_mean(node, nodes)}"


def unknown_host(scenario: Scenario, name: str) -> str | None:
    """The mistake in a host's name, None where it is known."""
    if name in scenario.hosts:
        return None
    if name in scenario.routers:
        return f"{quoted(name)} is a router: only hosts have applications"
    if name in scenario.switches:
        return f"{quoted(name)} is a switch: only hosts have applications"
    return f"there is no host {quoted(name)}: {did_you_mean(name, scenario.hosts)}"


def bad_rates(
    scenario: Scenario, path: Path, directions: tuple[LinkSettings, LinkSettings], half: bool
) -> Iterator[Problem]:
    """Traces that cannot be read, and rates that the link cannot have."""
    if half and any(one.burst is not None for one in directions):
        text = "a half-duplex link has no token bucket: remove it, or make the link full duplex"
        yield scenario.provenance.problem((*path, "burst"), text)
    traces = [one.trace for one in directions if one.trace is not None]
    for trace in dict.fromkeys(traces) if scenario.provenance.reads_files else ():
        try:
            opportunities_ms(trace, scenario.folder)
        except TraceError as error:
            yield scenario.provenance.problem((*path, "trace"), str(error))
