"""Checks between the parts of a scenario: names refer to things, things fit together.

Each check yields problems; later ones run only where those that they rest on found none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from mptcplab.policy.source import PolicyError, read_policy
from mptcplab.scenario.check import middlebox, run
from mptcplab.scenario.check.names import bad_rates, unknown_end
from mptcplab.scenario.link import Link
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import AddressError, End, Network, build, outline
from mptcplab.scenario.problem import Problem, did_you_mean, quoted
from mptcplab.scenario.profiles import is_half_duplex, profile_names, settings_of
from mptcplab.scenario.tree import Path


def check(scenario: Scenario, variants: Collection[str]) -> Iterator[Problem]:
    """Every problem that the parts of the scenario have with each other in these variants."""
    wiring = list(_wiring(scenario))
    yield from wiring
    yield from run.check_names(scenario)
    if wiring:
        return
    try:
        network = build(scenario)
    except AddressError as error:
        yield _at(scenario, error.path, str(error))
        return
    yield from middlebox.check_addresses(scenario, network)
    yield from run.check_behaviour(scenario, network, variants)


def _at(scenario: Scenario, path: Path, text: str) -> Problem:
    return scenario.provenance.problem(path, text)


def _wiring(scenario: Scenario) -> Iterator[Problem]:
    for name in scenario.routers:
        if name in scenario.hosts:
            yield _at(scenario, ("routers", name), "there is a host of this name")
    for name in scenario.switches:
        for kind, others in (("host", scenario.hosts), ("router", scenario.routers)):
            if name in others:
                yield _at(scenario, ("switches", name), f"there is a {kind} of this name")
    yield from _controller(scenario)
    owner: dict[End, str] = {}
    misspelt = False
    for name, link in scenario.links.items():
        for problem in _link_ends(scenario, name, link, owner):
            misspelt = True
            yield problem
        yield from _link_settings(scenario, name, link)
    yield from middlebox.check_ends(scenario)
    if misspelt:
        return  # An interface that no link names may be the one that was meant.
    network = outline(scenario)
    for end in network.interfaces:
        if end not in network.link_of:
            path = (_kind(network, end), end.node, "interfaces", end.interface)
            yield _at(scenario, path, f"no link names it: add one between {end} and another")
    yield from _mtus(scenario, network)
    yield from _routed_segments(scenario, network)


def _controller(scenario: Scenario) -> Iterator[Problem]:
    """Switches without a controller, which drop everything, the reverse, and policies' files."""
    if scenario.controller is not None and not scenario.switches:
        yield _at(scenario, ("controller",), "there are no switches: add `switches: {s1: {}}`")
    if scenario.switches and scenario.controller is None:
        text = "no controller tells them where packets go: add `controller: shortest`"
        yield _at(scenario, ("switches",), text)
    policy = None if scenario.controller is None else scenario.controller.policy_file
    if policy is not None and scenario.provenance.reads_files:
        try:
            read_policy(policy, scenario.folder)
        except PolicyError as error:
            yield _at(scenario, ("controller", "policy"), str(error))


def _routed_segments(scenario: Scenario, network: Network) -> Iterator[Problem]:
    """Routers between segments of switches: their controller takes them for one."""
    for name in scenario.routers:
        ends = network.ends_of(name)
        switched = {
            network.segment_of[end]
            for end in ends
            if (peer := network.peer(end)) is not None and peer.node in network.switches
        }
        if len(switched) > 1:
            text = "joins two segments of switches, which their controller takes for one"
            yield _at(scenario, ("routers", name), f"{text}: join them by a link between switches")


def _mtus(scenario: Scenario, network: Network) -> Iterator[Problem]:
    """Segments whose ends differ: packets of one that the other would not take."""
    for name, ends in network.segments.items():
        given = sorted(ends, key=lambda e: "mtu" not in network.interfaces[e].model_fields_set)
        for end, other in pairwise(given):
            size, others = network.interfaces[end].mtu, network.interfaces[other].mtu
            if size != others:
                path = (_kind(network, end), end.node, "interfaces", end.interface, "mtu")
                across = "the same segment" if len(ends) > 2 else f"the other end of link {name}"
                text = f"{size} B, but {other} at {across} has {others} B"
                yield _at(scenario, path, f"{text}: give both the same")


def _kind(network: Network, end: End) -> str:
    return "routers" if end.node in network.routers else "hosts"


def _link_ends(
    scenario: Scenario, name: str, link: Link, owner: dict[End, str]
) -> Iterator[Problem]:
    ends = []
    for index, text in enumerate(link.between):
        path = ("links", name, "between", index)
        problem = unknown_end(scenario, text, routers=True)
        if problem is not None:
            yield _at(scenario, path, f"{quoted(text)}: {problem}")
            continue
        end = End.parse(text)
        ends.append(end)
        if end in owner and owner[end] != name:
            yield _at(scenario, path, f"{quoted(text)}: link {owner[end]} uses it already")
        owner[end] = name
    if len(ends) == 2 and ends[0].node == ends[1].node:
        yield _at(scenario, ("links", name, "between"), f"joins {ends[0].node} to itself")


def _link_settings(scenario: Scenario, name: str, link: Link) -> Iterator[Problem]:
    if link.profile is not None and link.profile not in profile_names():
        text = f"{quoted(link.profile)}: {did_you_mean(link.profile, profile_names())}"
        yield _at(scenario, ("links", name, "profile"), f"unknown profile {text}")
        return
    yield from bad_rates(scenario, ("links", name), settings_of(link), is_half_duplex(link))
