"""Whether MPTCP survives on each path: what one end sent beside what the other end saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from mptcplab.measure.plan import Path

MP_CAPABLE = "mp-capable"
MP_JOIN = "mp-join"
EVIDENCE = (
    "options of the SYN as the target received it (TCP_SAVED_SYN), and both ends' accounts of "
    "MPTCP and its subflows (MPTCP_INFO)"
)
ENOUGH_S = 3.0
"""A SYN that was lost is sent again after a second, and then after two more."""
TOO_SHORT = f"the only trial was shorter than {ENOUGH_S:.0f} s"


@dataclass(frozen=True)
class Survival:
    """Options and subflows that come through on a path. Null: not tried, or not known."""

    capable: bool | None = None
    """A connection that begins on it is MPTCP at both ends."""
    join: bool | None = None
    """A subflow over it joins a connection that began on another path, at both ends."""
    stripped: tuple[str, ...] = ()
    """Options that were sent and did not come."""
    unknown: str | None = None
    """The reason for which nothing is known about `join`."""


@dataclass(frozen=True)
class Observation:
    """The two connections of an experiment of survival."""

    witness: Mapping[str, Any]
    mptcp: Mapping[str, Any]
    seconds: float = 0.0
    """Time that subflows had to join."""

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
        """Local addresses of subflows that both ends have."""
        ours, known, theirs = self._subflows()
        return ours if theirs >= len(ours) else ours & known

    @property
    def unsure(self) -> frozenset[str]:
        """Local addresses of subflows of which the target may see another address (NAT)."""
        ours, known, theirs = self._subflows()
        # Each one that the target has is known by its address: it has no other one.
        return frozenset() if theirs == len(ours & known) else ours - self.joined

    def obstacle(self) -> str | None:
        """The reason for which a further subflow could not join whatever the path lets through."""
        target = self.mptcp["target"]
        assert target is not None
        ends = {"this machine": self.mptcp["probe"]["seen"], "the target": target["seen"]}
        for who, seen in ends.items():
            allowed = seen["subflows_allowed"]
            if allowed is None:
                return f"{who} does not tell how many further subflows it allows"
            if len(seen["subflows"]) - 1 >= allowed:
                return f"{who} allows no more than {allowed} further subflows"
        return None

    def _subflows(self) -> tuple[frozenset[str], frozenset[str], int]:
        """Local addresses here, those that the target sees, and the number of its subflows."""
        target = self.mptcp["target"]
        if not self.is_capable or target is None:
            return frozenset(), frozenset(), 0
        ours = [one["local"] for one in self.mptcp["probe"]["seen"]["subflows"]]
        theirs = [one["remote"] for one in target["seen"]["subflows"]]
        return _addresses(ours), _addresses(theirs), len(theirs)


Trials = Mapping[int, Sequence[Observation]]
"""By the number of the path on which they began."""


def survival(
    paths: Sequence[Path],
    trials: Trials,
    sent: Sequence[str],
    endpoints: Iterable[str] | None = None,
) -> list[Survival]:
    """For each path; `sent` are the options that this kernel sends in a SYN.

    `endpoints` are the addresses that are endpoints of its path manager; null: not known.
    """
    known = None if endpoints is None else frozenset(endpoints)
    return [_of_path(number, paths, trials, sent, known) for number in range(len(paths))]


def no_mptcp(trials: Trials) -> str | None:
    """The reason, a sentence without its stop, for which MPTCP is to be had on no path."""
    seen = [one for trial in trials.values() for one in trial]
    if not seen or any(one.is_capable for one in seen):
        return None
    if all(one.is_capable is None for one in seen):
        failures = [one.mptcp["failure"] for one in seen if one.mptcp["failure"]]
        reason = failures[0] if failures else "the target saw none"
        return f"No connection by MPTCP came to be: {reason}"
    syns = [one.witness["target"]["syn"] for one in seen if one.witness["target"] is not None]
    came = any(syn is not None and MP_CAPABLE in syn["names"] for syn in syns)
    more = ", and its SYN came: the target's kernel may have none" if came else ""
    return f"No connection was MPTCP at both ends{more}"


def _of_path(
    number: int,
    paths: Sequence[Path],
    trials: Trials,
    sent: Sequence[str],
    endpoints: frozenset[str] | None,
) -> Survival:
    own = trials.get(number, ())
    came = [one.is_capable for one in own if one.is_capable is not None]
    capable = any(came) if came else None
    stripped = _stripped(own, sent)
    if capable is False and MP_CAPABLE not in stripped:
        # It came, and its answer did not.
        stripped.append(MP_CAPABLE)
    others = [
        one
        for other, trial in trials.items()
        for one in trial
        if other != number and one.is_capable
    ]
    source = str(ip_address(paths[number].source))
    if any(source in one.joined for one in others):
        return Survival(capable, True, tuple(stripped))
    unknown = _unknown(source, others, endpoints)
    if unknown is not None:
        return Survival(capable, None, tuple(stripped), unknown)
    return Survival(capable, False, (*stripped, MP_JOIN))


def _unknown(
    source: str, others: Sequence[Observation], endpoints: frozenset[str] | None
) -> str | None:
    """The reason for which it says nothing about the path that no subflow joined over it."""
    if not others:
        return "no connection that began on another path was MPTCP"
    if endpoints is None:
        return f"whether {source} is an endpoint of the path manager is not known"
    if source not in endpoints:
        return f"{source} is no endpoint of the path manager"
    if any(source in one.unsure for one in others):
        return "the target has fewer subflows, under other addresses"
    reasons = [one.obstacle() for one in others]
    free = [one for one, reason in zip(others, reasons, strict=True) if reason is None]
    if not free:
        return reasons[0]
    if len(free) > 1 or free[0].seconds > ENOUGH_S:
        return None
    return TOO_SHORT


def _stripped(own: Sequence[Observation], sent: Sequence[str]) -> list[str]:
    """Options that came in none of the SYNs that were seen."""
    targets = [one.witness["target"] for one in own]
    syns = [one["syn"] for one in targets if one is not None and one["syn"] is not None]
    if not syns:
        return []
    return [name for name in sent if all(name not in syn["names"] for syn in syns)]


def _addresses(places: Iterable[str]) -> frozenset[str]:
    return frozenset(address(place) for place in places)


@lru_cache(4_096)
def own_address(text: str) -> str:
    """An address in its usual form, without the scope of a link."""
    found = ip_address(text.partition("%")[0])
    return str(getattr(found, "ipv4_mapped", None) or found)


@lru_cache(4_096)
def address(place: str) -> str:
    """The address of `10.0.0.1:80` or `[::1]:80`; the text itself where it is neither."""
    text = place.rpartition(":")[0].strip("[]")
    try:
        found = ip_address(text)
    except ValueError:
        return place
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)
