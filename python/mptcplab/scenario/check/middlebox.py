"""Whether a link's middleboxes fit the link."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.scenario.middlebox import Nat, ProxyAck
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import Network, free_addresses
from mptcplab.scenario.problem import Problem, quoted
from mptcplab.scenario.tree import Path


def check_ends(scenario: Scenario) -> Iterator[Problem]:
    """Ends that boxes name and their link does not have; boxes that look at packets of a switch."""
    for path, name, box in _boxes(scenario):
        switch = _switch_at(scenario, name)
        if switch is not None:
            text = f"switch {switch} is at this link, which carries frames: put it into another one"
            yield scenario.provenance.problem(path, text)
        key, end = _end(box)
        known = scenario.links[name].between
        if end is not None and end not in known:
            text = f"{quoted(end)}: is no end of link {name}: write {' or '.join(known)}"
            yield scenario.provenance.problem((*path, key), text)


def check_addresses(scenario: Scenario, network: Network) -> Iterator[Problem]:
    """Outer addresses that no packet would reach."""
    taken = {address.ip for every in network.addresses.values() for address in every}
    for path, name, box in _boxes(scenario):
        if not isinstance(box, Nat):
            continue
        nets = [a.network for end in network.links[name] for a in network.addresses[end]]
        if box.address is None:
            if not any(True for _ in free_addresses(network, name)):
                text = f"no address is left on link {name}: give its ends a shorter prefix"
                yield scenario.provenance.problem(path, text)
        elif not any(box.address in net for net in nets):
            words = " or ".join(dict.fromkeys(map(str, nets)))
            text = f'"{box.address}": is not of link {name}: choose one of {words}'
            yield scenario.provenance.problem((*path, "address"), text)
        elif box.address in taken:
            text = f'"{box.address}": is in use already: choose another'
            yield scenario.provenance.problem((*path, "address"), text)
        else:
            taken.add(box.address)


def _switch_at(scenario: Scenario, link: str) -> str | None:
    nodes = (end.partition(".")[0] for end in scenario.links[link].between)
    return next((node for node in nodes if node in scenario.switches), None)


def _boxes(scenario: Scenario) -> Iterator[tuple[Path, str, object]]:
    for name, link in scenario.links.items():
        for index, middlebox in enumerate(link.middleboxes):
            path = ("links", name, "middleboxes", index, middlebox.kind)
            yield path, name, middlebox.box


def _end(box: object) -> tuple[str, str | None]:
    if isinstance(box, Nat):
        return "inside", box.inside
    return "sender", box.sender if isinstance(box, ProxyAck) else None
