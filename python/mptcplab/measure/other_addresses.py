"""Subflows of MPTCP that were on none of the paths that are measured.

A host may have endpoints of the path manager at other interfaces, and the kernel opens subflows
from these, too. What went over them is no figure of the paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mptcplab.measure.plan import Kind, Path, Step
from mptcplab.measure.survival import address, own_address

_BY_MPTCP = (Kind.SURVIVAL, Kind.MPTCP)
Addresses = frozenset[str]
"""Local addresses."""


def other_addresses_of_all(
    done: Iterable[tuple[Step, Mapping[str, Any]]], paths: Sequence[Path]
) -> Addresses:
    """Addresses beside those of the paths from which any connection of an experiment had a subflow.

    Survival takes long enough for each endpoint of the host to show.
    """
    found: set[str] = set()
    for step, result in done:
        if step.kind in _BY_MPTCP:
            for connection in result["connections"]:
                found |= _sources(connection)
    return frozenset(found - _of_paths(paths))


def other_addresses(
    connection: Mapping[str, Any], paths: Sequence[Path], known: Addresses
) -> Addresses:
    """Addresses beside those of the paths from which one connection may have had a subflow.

    `known` are those of the experiment. A subflow that lasted for less than 50 ms may have been
    seen by the target alone, and there under another address (NAT): where the target has more
    subflows than are known to be on paths, the others may be on any of these.
    """
    if not known:
        return frozenset()
    sources = _sources(connection)
    found = sources - _of_paths(paths)
    target = connection["target"]
    seen = [] if target is None else target["seen"]["subflows"]
    remotes = {address(one["remote"]) for one in seen}
    found |= remotes & known
    if not found and len(seen) > len(sources):
        return known
    return frozenset(found)


def _of_paths(paths: Sequence[Path]) -> frozenset[str]:
    return frozenset(own_address(path.source) for path in paths)


def _sources(connection: Mapping[str, Any]) -> frozenset[str]:
    """Local addresses of a connection's subflows, whenever they were seen; none of TCP."""
    seen = connection["probe"]["seen"]
    at_last = {address(one["local"]) for one in seen["subflows"]} if seen["mptcp"] else set()
    between = {own_address(one) for one in connection.get("sources", ())}
    return frozenset(at_last | between)
