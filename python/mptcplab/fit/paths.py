"""The paths of a connection as a capture shows them: rates, delays, losses, queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mptcplab.fit.course import Course, Numbers, course
from mptcplab.trace.accounts import Account
from mptcplab.trace.views import View

_WINDOW_BYTES = 24_000
"""Data over which a rate is taken: sixteen full segments, so that the times of single packets
matter little; half of what was in flight at most, as trains are not longer where that is less."""
_LEAST_ARRIVALS = 4
"""Arrivals over which a rate is taken at least."""
_TRAIN = 0.9
"""Part of the rates up to which they may be less than the link's: between trains of packets."""
_JUMP = 4
"""An acknowledgement of so many times more than usual ends a recovery: its data came before."""
_FULL = 0.98
"""Part of the round trips that are shorter than the longest ones, of which some are outliers."""
_LONGEST = 0.995
"""The same where outliers have been left out."""
_HIGH = 0.5
"""Part of the way from the least round trip to the longest above which a queue may be full."""
_LEAST_LOSSES = 3
"""Losses by chance of which a share is taken."""
_LEAST_QUEUE_BYTES = 16 * 1500
"""As of links in scenarios that name none."""
_MOST_BY_CHANCE = 8
"""Packets of an episode of losses by chance. With a loss of p, Reno has some 1.2/√p packets on
their way (RFC 3649, section 2), of which 1.2·√p are lost; CUBIC a few times as many."""
_SMALL_PACKET_BYTES = 72
_LARGE_PACKET_BYTES = 1500
_ROUND_TRIPS_OF_A_JOIN = 3
_LATE_NS = 200_000_000
_LEAST_DELAY_NS = 5_000.0

Row = Mapping[str, Any]


@dataclass(frozen=True)
class PathEstimate:
    """A path, in the direction of most of the connection's data."""

    name: str
    """`p0`, `p1` … in the order of the first subflows."""
    client_address: str
    server_address: str
    subflows: Sequence[int]
    """Numbers of those that went over it."""
    rate_mbps: float
    """Of IP packets: the rate at which trains of them came."""
    delay_ms: float
    """One way: half of the least round trip, without the time that sending takes."""
    loss: float
    """By chance, as a part of the packets; what was lost while a queue was full is none."""
    queue_bytes: int | None
    """Its longest, where it overflowed; null where it did not."""
    joined_after_s: float | None
    """Where it joined later than three round trips after the connection's start."""
    backup: bool
    carried_mbps: float
    """Payload over the time of the connection."""
    rtt_ms: float | None
    """Mean round trip."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain CAPTURE --json`."""
        return {
            "path": self.name,
            "client_address": self.client_address,
            "server_address": self.server_address,
            "subflows": list(self.subflows),
            "rate_mbps": self.rate_mbps,
            "delay_ms": self.delay_ms,
            "loss": self.loss,
            "queue_bytes": self.queue_bytes,
            "joined_after_s": self.joined_after_s,
            "backup": self.backup,
        }


def path_estimates(view: View, of: Account) -> Sequence[PathEstimate]:
    """The paths over which a connection's data went, or that stood by as backups.

    A pair of addresses is a path, with all subflows between them.

    Raises:
        TraceError: the view has no table of packets.

    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for one in of.subflows:
        row = one.row
        if row["established_ns"] is not None or row["inferred"]:
            key = (row["client_address"], row["server_address"])
            groups.setdefault(key, []).append(row)
    number = of.row["connection"]
    packets = view.packets.filter(pl.col("connection") == number).sort("t_ns").collect()
    # Times of day have no room for nanoseconds in the numbers that are computed with.
    packets = packets.with_columns(pl.col("t_ns") - of.row["start_ns"])
    found: list[PathEstimate] = []
    for rows in groups.values():
        own = packets.filter(pl.col("subflow").is_in([row["subflow"] for row in rows]))
        seen = course(own, of.sender, near_receiver=of.is_near_receiver)
        estimate = _estimate(f"p{len(found)}", rows, seen, of)
        if estimate is not None:
            found.append(estimate)
    return found


def _estimate(name: str, rows: Sequence[Row], seen: Course, of: Account) -> PathEstimate | None:
    first = rows[0]
    is_backup = bool(first["client_backup"] or first["server_backup"])
    in_flight_bytes = max(row[f"{of.sender}_in_flight_max_bytes"] for row in rows)
    window_bytes = min(_WINDOW_BYTES, in_flight_bytes / 2)
    bits_per_ns = train_rate(seen.arrived_ns, seen.arrived_bytes, window_bytes)
    base_ns = _base_ns(rows, seen, bits_per_ns)
    if bits_per_ns is None or base_ns is None:
        return None
    lost = losses(seen, base_ns, near_receiver=of.is_near_receiver)
    queue_bytes = None
    if lost.full_ns is not None:
        queue_bytes = max(_LEAST_QUEUE_BYTES, round((lost.full_ns - base_ns) * bits_per_ns / 8))
    joined_ns = first["start_ns"] - of.row["start_ns"]
    usual_ns = _ROUND_TRIPS_OF_A_JOIN * base_ns + _LATE_NS
    payload = sum(row[f"{of.sender}_payload_bytes"] for row in rows)
    mean_ns = float(seen.trips_ns.mean()) if seen.trips_ns.size else None
    return PathEstimate(
        name,
        first["client_address"],
        first["server_address"],
        [row["subflow"] for row in rows],
        rate_mbps=bits_per_ns * 1e3,
        delay_ms=max(_LEAST_DELAY_NS, base_ns / 2) / 1e6,
        loss=lost.by_chance,
        queue_bytes=queue_bytes,
        joined_after_s=joined_ns / 1e9 if joined_ns > usual_ns else None,
        backup=is_backup,
        carried_mbps=8e-6 * payload / of.duration_s if of.duration_s else 0.0,
        rtt_ms=None if mean_ns is None else mean_ns / 1e6,
    )


def train_rate(at_ns: Numbers, sizes: Numbers, window_bytes: float = _WINDOW_BYTES) -> float | None:
    """Bits a nanosecond at which trains of packets come; null of less than two windows of data.

    A train has the rate of the narrowest link, however long the pauses between trains are.
    """
    if at_ns.size < 2:
        return None
    whole = np.concatenate(([0.0], np.cumsum(sizes)))
    window = max(window_bytes, _LEAST_ARRIVALS * float(np.median(sizes)))
    # Data that comes after the first packet of a window came within its time.
    last = np.searchsorted(whole[1:], whole[1:] + window)
    begins = np.flatnonzero(last < at_ns.size)
    if begins.size < 2:
        return None
    ends = last[begins]
    took = at_ns[ends] - at_ns[begins]
    carried = whole[ends + 1] - whole[begins + 1]
    jumps = np.concatenate(([0], np.cumsum(sizes > _JUMP * np.median(sizes))))
    is_plain = (jumps[ends + 1] == jumps[begins + 1]) & (took > 0)
    if not is_plain.any():
        return None
    return float(np.quantile(8 * carried[is_plain] / took[is_plain], _TRAIN))


@dataclass(frozen=True)
class Losses:
    """How a path lost packets."""

    by_chance: float
    """Part of the packets; what a full queue dropped is none."""
    full_ns: float | None
    """The round trip through a full queue; null where none dropped anything."""


def losses(seen: Course, base_ns: float, *, near_receiver: bool) -> Losses:
    """Tells what was lost by chance from what a full queue dropped.

    Packets that were sent again with less than some round trips between them are one episode, two
    at the sender, and three at the receiver, where they come later. It is by chance where all round
    trips of so long before it were in the lower half of their range, so that no queue was full; and
    not where it is of many packets, as congestion control does not let so many be on their way that
    chance takes as many. At a receiver most episodes have to be so.
    """
    if not seen.again_ns.size or not seen.trips_ns.size:
        return Losses(0.0, None)
    longest_ns = float(np.quantile(seen.trips_ns, _FULL))
    high_ns = base_ns + _HIGH * (longest_ns - base_ns)
    window_ns = (3 if near_receiver else 2) * longest_ns
    begins = np.flatnonzero(np.diff(seen.again_ns, prepend=-np.inf) > window_ns)
    sizes = np.diff(np.append(begins, seen.again_ns.size))
    before = _longest_before(seen, seen.again_ns[begins], window_ns)
    is_chance = (before < high_ns) & (sizes <= _MOST_BY_CHANCE)
    full_ns = None
    if not is_chance.all():
        # At a receiver the trips that were cut short by a loss are not told from others.
        full = (
            np.quantile(seen.trips_ns, _LONGEST) if near_receiver else np.median(before[~is_chance])
        )
        full_ns = float(full)
    if near_receiver and 2 * is_chance.sum() <= is_chance.size:
        return Losses(0.0, full_ns)
    sent_low = _longest_before(seen, seen.sent_ns, window_ns) < high_ns
    lost = int(sizes[is_chance].sum())
    if lost < _LEAST_LOSSES or not sent_low.any():
        return Losses(0.0, full_ns)
    return Losses(min(1.0, lost / int(sent_low.sum())), full_ns)


def _longest_before(seen: Course, at_ns: Numbers, window_ns: float) -> Numbers:
    """The longest round trip that was seen within a time before each; the last one where none."""
    bounds = np.searchsorted(seen.trip_at_ns, [at_ns - window_ns, at_ns], side="right")
    first = np.minimum(bounds[0], seen.trips_ns.size - 1)
    last = np.maximum(bounds[1], first + 1)
    # Of pairs of places, the reduction from the first up to before the second.
    places = np.column_stack((first, last)).ravel()
    padded = np.append(seen.trips_ns, -np.inf)
    longest: Numbers = np.maximum.reduceat(padded, places)[::2]
    return longest


def _base_ns(rows: Sequence[Row], seen: Course, bits_per_ns: float | None) -> float | None:
    """The least round trip without the time of sending; null where none was seen."""
    if bits_per_ns is None:
        return None
    handshakes = [row["handshake_rtt_ns"] for row in rows if row["handshake_rtt_ns"] is not None]
    bases = [one - 2 * 8 * _SMALL_PACKET_BYTES / bits_per_ns for one in handshakes]
    if seen.trips_ns.size:
        bases.append(float(seen.trips_ns.min()) - 8 * _LARGE_PACKET_BYTES / bits_per_ns)
    return max(2 * _LEAST_DELAY_NS, min(bases)) if bases else None
