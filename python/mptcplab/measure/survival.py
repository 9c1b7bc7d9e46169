"""Whether MPTCP survives on each path: what one end sent beside what the other end saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from mptcplab.measure.plan import Path

MP_CAPABLE = "mp-capable"
MP_JOIN = "mp-join"
EVIDENCE = (
    "options of the SYN as the target received it (TCP_SAVED_SYN), and both ends' accounts of "
    "MPTCP and its subflows (MPTCP_INFO)"
)


@dataclass(frozen=True)
class Survival:
    """Options and subflows that come through on a path. Null: not tried, or not known."""

    capable: bool | None = None
    """A connection that begins on it is MPTCP at both ends."""
    join: bool | None = None
    """A subflow over it joins a connection that began on another path, at both ends."""
    stripped: tuple[str, ...] = ()
    """Options that were sent and did not come."""


@dataclass(frozen=True)
class Observation:
    """The two connections of an experiment of survival."""

    witness: Mapping[str, Any]
    mptcp: Mapping[str, Any]

    @property
    def is_capable(self) -> bool | None:
        """Null where the connection did not come to be at all."""
        target = self.mptcp["target"]
        if target is None:
            return None
        return bool(self.mptcp["probe"]["seen"]["mptcp"] and target["seen"]["mptcp"])

    @property
    def endpoints(self) -> int:
        """Endpoints from which the probe's kernel opens subflows, where its limits allow any."""
        seen = self.mptcp["probe"]["seen"]
        return seen["endpoints"] or 0 if seen["subflows_allowed"] else 0

    @property
    def joined(self) -> frozenset[str]:
        """Local addresses of subflows that both ends have; the target may see others (NAT)."""
        target = self.mptcp["target"]
        if not self.is_capable or target is None:
            return frozenset()
        ours = self.mptcp["probe"]["seen"]["subflows"]
        if len(target["seen"]["subflows"]) < len(ours):
            return frozenset()
        return frozenset(_address(one["local"]) for one in ours)


def survival(
    paths: Sequence[Path], seen: Mapping[int, Observation], sent: Sequence[str]
) -> list[Survival]:
    """For each path; `sent` are the options that this kernel sends in a SYN."""
    return [_of_path(number, paths, seen, sent) for number in range(len(paths))]


def _of_path(
    number: int, paths: Sequence[Path], seen: Mapping[int, Observation], sent: Sequence[str]
) -> Survival:
    own = seen.get(number)
    capable = None if own is None else own.is_capable
    stripped = [] if own is None else _stripped(own, sent)
    if capable is False and MP_CAPABLE not in stripped:
        # It came, and its answer did not.
        stripped.append(MP_CAPABLE)
    others = [one for other, one in seen.items() if other != number and one.is_capable]
    join = None
    if any(paths[number].source in one.joined for one in others):
        join = True
    elif any(one.endpoints >= len(paths) for one in others):
        join = False
        stripped.append(MP_JOIN)
    return Survival(capable, join, tuple(stripped))


def _stripped(own: Observation, sent: Sequence[str]) -> list[str]:
    target = own.witness["target"]
    syn = None if target is None else target["syn"]
    return [] if syn is None else [name for name in sent if name not in syn["names"]]


def _address(text: str) -> str:
    """The address of `10.0.0.1:80` or `[::1]:80`."""
    found = ip_address(text.rpartition(":")[0].strip("[]"))
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)
