"""A transfer, from both ends' accounts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.measure.other_addresses import Addresses, other_addresses
from mptcplab.measure.plan import LONGEST_MS, Direction, Kind, Path, Step
from mptcplab.measure.survival import address
from mptcplab.metrics.benefit import bound_mbps
from mptcplab.metrics.rate import NS_PER_S, mbps

_LONGEST_S = LONGEST_MS / 1e3


@dataclass(frozen=True)
class Transfer:
    """A transfer, as its receiver saw it."""

    goodput_mbps: float | None = None
    """Null where nothing came, or the accounts contradict each other."""
    time_s: float | None = None
    """Null where not all came."""
    rate_bound_mbps: float | None = None
    """Rate that it had at most; of one that did not finish, in the time that it had.
    Null where the accounts contradict each other."""
    is_mptcp: bool | None = None
    """Both ends say so; null where the connection did not come to be."""
    subflows: int | None = None
    """At its end, at the receiving end; of MPTCP alone."""
    path_bytes: tuple[int, ...] = ()
    """Of MPTCP, carried by subflows from the address of each path."""
    begin: int | None = None
    """Of MPTCP, the number of the path on which it began; null where that is not known."""
    other_addresses: Addresses = frozenset()
    """Of MPTCP, local addresses of subflows on none of the paths."""

    @property
    def is_counted(self) -> bool:
        """Whether it tells of what was to be measured: MPTCP, on the paths alone."""
        return self.is_mptcp is not False and not self.other_addresses


def transfer(
    step: Step,
    result: Mapping[str, Any],
    paths: Sequence[Path] = (),
    known_others: Addresses = frozenset(),
) -> Transfer:
    """Figures of a transfer, of its receiving ends.

    Of several connections at once: what all of them had carried when the first one ended.
    `known_others` are local addresses of subflows of the experiment that were on none of the paths.
    """
    connections = result["connections"]
    is_mptcp, subflows = None, None
    path_bytes: tuple[int, ...] = ()
    found: Addresses = frozenset()
    if step.kind is Kind.MPTCP:
        found = other_addresses(connections[0], paths, known_others)
        is_mptcp = _is_mptcp(connections[0])
        if is_mptcp:
            received = _received(connections[0], step.direction)
            subflows = len(received)
            path_bytes = _path_bytes(received, paths)
    came = delivered(step, connections)
    return Transfer(*_figures(came), is_mptcp, subflows, path_bytes, step.begin, found)


@dataclass(frozen=True)
class Delivered:
    """The payload that the receiving ends of a transfer got."""

    payload_bytes: int
    """By all connections, when the first one had its last payload."""
    lasted_ns: int | None
    """Until then; null where nothing came."""
    all_bytes: int
    """By all connections, to their ends."""
    is_whole: bool
    """All that was asked for."""


def delivered(step: Step, connections: Sequence[Mapping[str, Any]]) -> Delivered | None:
    """The payload of a transfer, by its receiving ends; null where they contradict each other."""
    is_down = step.direction is Direction.DOWN
    ends = [one["probe" if is_down else "target"] for one in connections]
    sent = sum(one["probe"]["sent_bytes"] for one in connections)
    received = [one for one in ends if one is not None and one["received_bytes"] > 0]
    size = sum(one["received_bytes"] for one in received)
    if size > (step.size_bytes if is_down else min(step.size_bytes, sent)):
        return None
    if not received:
        return Delivered(0, None, 0, is_whole=False)
    first = min(received, key=lambda one: int(one["duration_us"]))
    moved = first["moved_by_all_bytes"]
    if not first["received_bytes"] <= moved <= step.size_bytes:
        return None
    lasted_ns = max(first["duration_us"], 1) * 1_000
    return Delivered(moved, lasted_ns, size, is_whole=size == step.size_bytes)


def _figures(came: Delivered | None) -> tuple[float | None, float | None, float | None]:
    """Goodput, time, and the bound of the rate."""
    if came is None:
        return None, None, None
    if came.lasted_ns is None:
        return None, None, bound_mbps(0, 0.0, _LONGEST_S)
    seconds = came.lasted_ns / NS_PER_S
    goodput = mbps(came.payload_bytes, came.lasted_ns)
    if came.is_whole:
        return goodput, seconds, goodput
    return goodput, None, bound_mbps(came.all_bytes, seconds, _LONGEST_S)


def _is_mptcp(one: Mapping[str, Any]) -> bool | None:
    target = one["target"]
    if target is None or one["connect_us"] is None:
        return None
    return bool(one["probe"]["seen"]["mptcp"] and target["seen"]["mptcp"])


def _received(connection: Mapping[str, Any], direction: Direction | None) -> list[tuple[str, int]]:
    """The probe's address of each subflow, and the payload that came over it.

    As the receiving end saw them: those of the sending end have closed once all has come. Behind
    an address translator the target sees another address.
    """
    end, place = ("probe", "local") if direction is Direction.DOWN else ("target", "remote")
    subflows = connection[end]["seen"]["subflows"]
    return [(address(one[place]), one["received_bytes"] or 0) for one in subflows]


def _path_bytes(received: Sequence[tuple[str, int]], paths: Sequence[Path]) -> tuple[int, ...]:
    return tuple(sum(size for source, size in received if source == path.source) for path in paths)
