"""The flows of each client in a variant, with every default filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from mptcplab.scenario.model import Scenario, Variant
from mptcplab.scenario.network import FAMILIES, End, Network
from mptcplab.scenario.traffic import (
    Body,
    Bulk,
    Command,
    Connections,
    Datagrams,
    Ping,
    Protocol,
    RequestResponse,
    Stream,
)


@dataclass(frozen=True)
class Flow:
    """One client's share of an entry of the traffic, over one of the interfaces that it names."""

    index: int
    """Position of its entry in the scenario."""
    name: str
    common_name: str
    """The name without the interface, where the entry goes over several at once."""
    kind: str
    client: str
    server: str
    """The same as the client for a command without a server."""
    protocol: Protocol
    via: str | None
    is_one_of_several: bool
    """Whether `via` names several interfaces: the entry is sent over each of them at once."""
    via_from_variant: bool
    body: Body


@dataclass(frozen=True)
class Way:
    """Where a connection starts and ends."""

    source: End
    target: End
    family: int
    crossed: tuple[End, ...]
    """Interfaces on the way, two for each link."""


def flows(scenario: Scenario, variant: Variant) -> list[Flow]:
    """All flows of a variant, in the order of the scenario.

    One that fixes its `protocol` is background: neither the variant's protocol nor its `via`
    apply to it. One that fixes its `via` keeps it. Where `via` names several interfaces there is a
    flow for each, which adds its name.
    """
    made = []
    for name, index, client in _named(scenario):
        item = scenario.traffic[index]
        body = item.body
        fixed = body.protocol is not None
        chosen = body.via if fixed or body.via is not None else variant.via
        interfaces: list[str | None] = [None] if chosen is None else [*chosen]
        several = len(interfaces) > 1
        made += [
            Flow(
                index=index,
                name=f"{name}-{via}" if several else name,
                common_name=name,
                kind=item.kind,
                client=client,
                server=body.server_of(client),
                protocol=body.protocol or variant.protocol,
                via=via,
                is_one_of_several=several,
                via_from_variant=via is not None and body.via is None,
                body=body,
            )
            for via in interfaces
        ]
    return made


def own_subflows(flow: Flow) -> list[End]:
    """Interfaces from which the flow's application opens subflows itself."""
    names = flow.body.subflows or [] if isinstance(flow.body, Connections) else []
    ends = [End.parse(name) for name in names]
    return [end for end in ends if end.node == flow.client]


def subflow_target(network: Network, flow: Flow, way: Way, source: End) -> End | None:
    """The server's interface that a subflow from `source` goes to.

    That of the connection, or, where it is out of reach, the one with the fewest links between.
    """
    reached = network.forwarding(source, way.family)
    targets = [end for end in reached if end.node == flow.server]
    if way.target in targets:
        return way.target
    return min(targets, key=lambda end: len(reached[end]), default=None)


def _named(scenario: Scenario) -> Iterator[tuple[str, int, str]]:
    """Name of the flow, position of its entry, client; for each client of each entry.

    An entry without a name is called by its kind, numbered from the second of a kind; where it has
    several clients each adds its name.
    """
    seen: Counter[str] = Counter()
    for index, item in enumerate(scenario.traffic):
        base = item.body.name
        if base is None:
            seen[item.kind] += 1
            base = item.kind if seen[item.kind] == 1 else f"{item.kind}-{seen[item.kind]}"
        clients = item.body.clients
        for host in clients:
            yield (base if len(clients) == 1 else f"{base}-{host}"), index, host


def find_way(network: Network, client: str, server: str, via: str | None) -> Way | None:
    """The way of a flow's (first) connection, None where there is none.

    From `via`, or else from the client's first interface that reaches the server; to the server's
    interface with the fewest links between, the first of equal ones; by IPv4 where both have it.
    """
    order = {end: index for index, end in enumerate(network.interfaces)}
    for source in network.ends_of(client):
        if via is not None and source.interface != via:
            continue
        for family in FAMILIES:
            reached = network.forwarding(source, family)
            targets = [end for end in reached if end.node == server]
            if targets:
                target = min(targets, key=lambda end: (len(reached[end]), order[end]))
                return Way(source, target, family, reached[target])
    return None


def end_ns(scenario: Scenario) -> int | None:
    """When the last traffic ends; None where some of it ends by an amount, not by a time."""
    ends = [0]
    for item in scenario.traffic:
        length = timed_length_ns(item.body)
        if length is None:
            return None
        ends.append(item.body.start + length)
    return max(ends)


def timed_length_ns(body: Body) -> int | None:
    """How long a flow lasts, where that does not depend on the network."""
    match body:
        case Bulk() | Command() | Datagrams():
            return body.duration
        case Stream():
            return body.duration + body.deadline
        case Ping():
            return body.interval * body.count
        case RequestResponse() if body.interval > 0:
            return body.interval * body.count
    return None
