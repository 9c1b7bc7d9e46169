"""A scenario for the terminal: the paths from clients to servers, and what happens there."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.scenario.flows import find_way
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import End, Network, build
from mptcplab.scenario.units import format_time
from mptcplab.scenario.words import event_words, link_words, traffic_words, via_words


def draw_text(scenario: Scenario, width: int = 100) -> str:
    """The topology path by path, then traffic, events and variants; lines of at most `width`.

    Each path starts at a client's interface and shows every link with its rate and one-way delay.
    """
    network = build(scenario)
    chains = list(_chains(scenario, network))
    crossed = {link for _, links in chains for link in links}
    sections = {
        "Paths": [line for parts, _ in chains for line in _wrapped(parts, width)],
        "Other links": [
            f"{ends[0]} ── {_link(scenario, name)} ── {ends[1]}"
            for name, ends in network.links.items()
            if name not in crossed
        ],
        "Controller": list(_controller(scenario)),
        "Traffic": list(traffic_words(scenario)),
        "Events": [
            f"{format_time(event.at):>8}  {event_words(event)}" for event in scenario.events
        ],
        "Variants": [
            f"{name}: {variant.protocol}"
            + (f" via {via_words(variant.via)}" if variant.via else "")
            + "".join(f", {path} = {value}" for path, value in variant.set.items())
            for name, variant in scenario.variants.items()
        ],
        "Expected": [entry.finding for entry in scenario.expect],
    }
    lines = [scenario.name + (f" — {scenario.title}" if scenario.title else "")]
    for title, body in sections.items():
        if body:
            lines += ["", title, *(f"  {line}" for line in body)]
    return "\n".join(lines) + "\n"


def _chains(scenario: Scenario, network: Network) -> Iterator[tuple[list[str], list[str]]]:
    """For each client's interface its way to the server: the words to write, the links crossed."""
    drawn: set[tuple[End, str]] = set()
    for item in scenario.traffic:
        for client in item.body.clients if item.body.servers else ():
            server = item.body.server_of(client)
            for end in network.ends_of(client):
                way = find_way(network, client, server, end.interface)
                if way is None or (end, server) in drawn:
                    continue
                drawn.add((end, server))
                links = [network.link_of[leaving] for leaving in way.crossed[::2]]
                nodes = [arriving.node for arriving in way.crossed[1:-1:2]]
                parts = [_end(network, way.source, way.family)]
                for index, link in enumerate(links):
                    last = index == len(links) - 1
                    node = _end(network, way.target, way.family) if last else nodes[index]
                    parts.append(f" ── {_link(scenario, link)} ── {node}")
                yield parts, links


def _controller(scenario: Scenario) -> Iterator[str]:
    """Says which controller takes subflows over the switches, as `_chains` draws one way alone."""
    if controller := scenario.controller:
        name = controller.policy or controller.address or " ".join(controller.command or ())
        yield f"{name}: chooses the ways over the switches, of which one of the shortest is drawn"


def _end(network: Network, end: End, family: int) -> str:
    return f"{end} {network.address(end, family)}"


def _link(scenario: Scenario, name: str) -> str:
    return f"[{name}: {', '.join(link_words(scenario.links[name]))}]"


def _wrapped(parts: list[str], width: int) -> Iterator[str]:
    line = ""
    for part in parts:
        if line and len(line) + len(part) > width - 2:
            yield line
            line = "     "
        line += part
    yield line
