"""A transfer, from both ends' accounts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.measure.plan import LONGEST_MS, Direction, Kind, Path, Step
from mptcplab.measure.survival import address

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
    """At its end, at the probe; of MPTCP alone."""
    path_bytes: tuple[int, ...] = ()
    """Of MPTCP, carried by subflows from the address of each path."""


def transfer(step: Step, result: Mapping[str, Any], paths: Sequence[Path] = ()) -> Transfer:
    """Figures of a transfer, of its receiving ends.

    Of several connections at once: what all of them had carried when the first one ended.
    """
    connections = result["connections"]
    is_mptcp, subflows = None, None
    path_bytes: tuple[int, ...] = ()
    if step.kind is Kind.MPTCP:
        is_mptcp = _is_mptcp(connections[0])
        if is_mptcp:
            seen = connections[0]["probe"]["seen"]["subflows"]
            subflows = len(seen)
            path_bytes = _path_bytes(seen, paths, step.direction)
    goodput, seconds, bound = _figures(step, connections)
    return Transfer(goodput, seconds, bound, is_mptcp, subflows, path_bytes)


def _figures(
    step: Step, connections: Sequence[Mapping[str, Any]]
) -> tuple[float | None, float | None, float | None]:
    """Goodput, time, and the bound of the rate."""
    is_down = step.direction is Direction.DOWN
    ends = [one["probe" if is_down else "target"] for one in connections]
    sent = sum(one["probe"]["sent_bytes"] for one in connections)
    received = [one for one in ends if one is not None and one["received_bytes"] > 0]
    size = sum(one["received_bytes"] for one in received)
    if size > (step.size_bytes if is_down else min(step.size_bytes, sent)):
        return None, None, None
    if not received:
        # Less than a byte has come.
        return None, None, 8 / _LONGEST_S / 1e6
    first = min(received, key=lambda one: int(one["duration_us"]))
    moved = first["moved_by_all_bytes"]
    if not first["received_bytes"] <= moved <= step.size_bytes:
        return None, None, None
    seconds = max(first["duration_us"], 1) / 1e6
    goodput = moved * 8 / seconds / 1e6
    if size == step.size_bytes:
        return goodput, seconds, goodput
    return goodput, None, size * 8 / max(seconds, _LONGEST_S) / 1e6


def _is_mptcp(one: Mapping[str, Any]) -> bool | None:
    target = one["target"]
    if target is None or one["connect_us"] is None:
        return None
    return bool(one["probe"]["seen"]["mptcp"] and target["seen"]["mptcp"])


def _path_bytes(
    subflows: Sequence[Mapping[str, Any]], paths: Sequence[Path], direction: Direction | None
) -> tuple[int, ...]:
    key = "received_bytes" if direction is Direction.DOWN else "sent_bytes"
    return tuple(
        sum(one[key] or 0 for one in subflows if address(one["local"]) == path.source)
        for path in paths
    )
