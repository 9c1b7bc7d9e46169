"""Objects that a policy is given: a connection, its subflows, and the paths that there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Wait(Enum):
    """The type of `WAIT`."""

    WAIT = "wait"


WAIT: Final = Wait.WAIT
"""The answer that a subflow has no path yet: the function is asked again when its connection has
carried more. One that its host does not open again any more is forgotten."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a switch."""

    switch: int
    """The number of the switch's datapath: in a scenario its place among the switches, from 1."""
    number: int
    """The port's number: in a scenario its place among the switch's links, from 1."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two switches, in one direction."""

    sender: Port
    receiver: Port


@dataclass(frozen=True, slots=True)
class Flow:
    """Addresses and ports of a subflow, from the end that opens it."""

    source: str
    destination: str
    protocol: int
    """Above IP; 6 is TCP, MPTCP included."""
    source_port: int
    """0 of another protocol than TCP."""
    destination_port: int


@dataclass(frozen=True, slots=True)
class Subflow:
    """A subflow: one that has a path, or the one that asks for it."""

    flow: Flow
    links: tuple[Link, ...] | None
    """Its path; None of the one that asks. No links: both ends are at one switch."""
    is_moved: bool = False
    """Whether the one that asks exists already, and its path has failed."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection, of which a subflow asks for a path."""

    flow: Flow
    """That of its first subflow."""
    is_multipath: bool
    """Whether it is of MPTCP, and not of TCP or another protocol."""
    size_bytes: int | None
    """Bytes of its transfer, where known."""
    carried_bytes: int
    """Bytes that it has carried, as far as switches have told: in the direction that has more."""
    subflows: tuple[Subflow, ...]
    """Its other subflows in the order in which they were opened. None: this is the first."""
    seed: int
    """A number of the run, for choices by chance that are the same when it is repeated."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path between the switches of both hosts."""

    links: tuple[Link, ...]
    """From the switch of the host that opens the subflow."""
    bandwidth_bps: int | None
    """The least rate of its links and of the two hosts' own; None: none is known."""
    delay_ns: int | None
    """The sum of the links' delays one way, without queues; None: one is not known yet."""
    queueing_ns: int
    """The sum of the times in the links' queues when they were last measured."""
    load_bps: int
    """The highest load of a link, of the direction that has more."""
    subflows: int
    """Subflows of all connections on the link that has the most."""
    new_subflows: int
    """Those which are too new to be part of the load: placed within the last two seconds, if their
    transfers cannot be over."""


@dataclass(frozen=True, slots=True)
class Paths:
    """All paths that are offered."""

    disjoint: tuple[Path, ...]
    """The edge-disjoint ones: fewest links first, then by the ports' numbers. At least one."""
    equal_cost: tuple[Path, ...]
    """Those with the fewest links, by the ports' numbers. At least one."""

    def unused(self, connection: Connection) -> list[Path]:
        """The disjoint paths that no other subflow of the connection has."""
        used = {subflow.links for subflow in connection.subflows}
        return [path for path in self.disjoint if path.links not in used]
