"""How a transfer comes through failures: recovery time and handover gap.

All of it is seen at the receiver, from the 10 ms bins of the table ``deliveries``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mptcplab.metrics.deliveries import BIN_NS, Bins, Times, delivery_bins, summed
from mptcplab.metrics.plan_view import Change, PlanView
from mptcplab.metrics.rows import Row, grouped
from mptcplab.metrics.statistics import worst
from mptcplab.recording import Recording

WINDOW_NS = 1_000_000_000
"""Delivery, or the use of a path, has to go on for this long to count as sustained."""
PAUSE_NS = 200_000_000
"""Longest pause within sustained delivery; the least retransmission timeout of Linux."""
BEFORE_NS = 5_000_000_000
"""Time before a failure over which the state before it is taken; less after an earlier change."""
TOGETHER_NS = 1_000_000_000
"""Changes that are no further apart than this count as one when the time before them is taken."""
TRICKLE = 0.05
"""Sustained delivery has at least this part of the mean rate before the failure."""


@dataclass(frozen=True)
class Flow:
    """Deliveries of one or several transfers over time."""

    start_ns: int
    end_ns: int
    bins_ns: Times
    """Starts of the bins that are not empty, ascending."""
    bytes: Times
    """Payload of each of these bins."""
    longest_silence: tuple[int, int] | None = None
    """(start, length) of the longest silence to the nanosecond, where known."""

    def delivered(self, start_ns: int, end_ns: int) -> int:
        """Payload of the bins that begin in [start, end)."""
        first, last = np.searchsorted(self.bins_ns, [start_ns, end_ns])
        return int(self.bytes[first:last].sum())


def recovery_s(flow: Flow, failure: Change, changes: Sequence[Change]) -> float | None:
    """Time from a failure to the first delivery from which on delivery is sustained.

    Sustained: over the second that begins with this delivery, no pause is longer than 200 ms, and
    the mean rate is at least 5 % of the mean before the failure. 0 where delivery went on. Null
    where it was never sustained again before the transfer's end, as it cannot be seen in the last
    second before that: the mean over repetitions is then null, too.
    """
    before_ns, before_bytes = _before(flow, failure, changes)
    at_ns = failure.at_ns
    least = TRICKLE * before_bytes * WINDOW_NS / before_ns
    first = int(np.searchsorted(flow.bins_ns, _bin(at_ns)))
    for start in flow.bins_ns[first:]:
        end = start + WINDOW_NS
        if end > flow.end_ns:
            return None
        last = int(np.searchsorted(flow.bins_ns, end))
        begin = int(np.searchsorted(flow.bins_ns, start))
        marks = np.concatenate((flow.bins_ns[begin:last], [end]))
        pauses = np.diff(marks) - BIN_NS
        if pauses.max() <= PAUSE_NS and flow.bytes[begin:last].sum() >= least:
            return float(max(0, start - at_ns)) / 1e9
    return None


def interrupts(flow: Flow, failure: Change, changes: Sequence[Change]) -> bool:
    """Whether something was being delivered when the failure came."""
    if not flow.start_ns < failure.at_ns < flow.end_ns:
        return False
    return _before(flow, failure, changes)[1] > 0


def handover_gap_s(flow: Flow, change: Change, until_ns: int) -> float | None:
    """Longest silence at the receiver that touches the time from a change to the next one.

    A silence that lasts to the end of the transfer counts to that end. To 20 ms, by the bins, and
    exact where it is the longest silence of the transfer; 0 where no bin is empty. Null where the
    change is outside of the transfer.
    """
    if not flow.start_ns <= change.at_ns < flow.end_ns or not flow.bins_ns.size:
        return None
    starts = flow.bins_ns + BIN_NS
    ends = np.concatenate((flow.bins_ns[1:], [max(flow.end_ns, int(starts[-1]))]))
    touching = (ends > starts) & (ends > change.at_ns) & (starts < until_ns)
    if not touching.any():
        return 0.0
    lengths = np.where(touching, ends - starts, 0)
    longest = int(lengths.argmax())
    length = int(lengths[longest])
    if flow.longest_silence is not None:
        exact_start, exact_length = flow.longest_silence
        if abs(exact_start - int(starts[longest])) <= BIN_NS and exact_length > length:
            length = exact_length
    return length / 1e9


def recovery_figures(
    transfers: Sequence[Row], recording: Recording, plan: PlanView
) -> dict[str, float | None]:
    """``recovery_s`` and ``handover_gap_s`` of a recording.

    Each is the worst over all changes, flows and ways; null if one of them is. A figure is missing
    where there was no such change while something was carried.
    """
    changes = plan.changes
    if not changes:
        return {}
    figures: dict[str, float | None] = {}
    recoveries = [recovery for recovery, _ in recoveries_s(transfers, recording, changes)]
    if recoveries:
        figures["recovery_s"] = worst(recoveries)
    gaps = [gap for gap, _ in handover_gaps_s(transfers, recording, changes)]
    if gaps:
        figures["handover_gap_s"] = max(gaps)
    return figures


def recoveries_s(
    transfers: Sequence[Row], recording: Recording, changes: Sequence[Change]
) -> list[tuple[float | None, Change]]:
    """The recovery time of each flow and way after each failure that has interrupted it."""
    bins = delivery_bins(recording)
    failures = [change for change in changes if change.up is False]
    return [
        (recovery_s(flow, failure, changes), failure)
        for flow in flows(transfers, bins, "traffic", "way")
        for failure in failures
        if interrupts(flow, failure, changes)
    ]


def handover_gaps_s(
    transfers: Sequence[Row], recording: Recording, changes: Sequence[Change]
) -> list[tuple[float, Change]]:
    """The handover gap of each transfer after each change that has come during it."""
    bins = delivery_bins(recording)
    found = []
    for flow in flows(transfers, bins, "traffic", "way", "index"):
        for change, following in zip(changes, [*changes[1:], None], strict=True):
            until_ns = flow.end_ns if following is None else max(following.at_ns, change.at_ns + 1)
            gap = handover_gap_s(flow, change, until_ns)
            if gap is not None:
                found.append((gap, change))
    return found


def flows(transfers: Sequence[Row], bins: Bins, *keys: str) -> list[Flow]:
    """The deliveries of the transfers that share ``keys``, each as one flow."""
    timed = [
        row for row in transfers if row["start_ns"] is not None and row["until_ns"] is not None
    ]
    return [_flow(group, bins) for group in grouped(timed, *keys).values()]


def _flow(transfers: Sequence[Row], bins: Bins) -> Flow:
    silence = None
    if len(transfers) == 1 and transfers[0]["longest_silence_ns"] is not None:
        (only,) = transfers
        silence = (only["longest_silence_at_ns"] or 0, only["longest_silence_ns"])
    bins_ns, payloads = summed(bins, transfers)
    return Flow(
        start_ns=min(row["start_ns"] for row in transfers),
        end_ns=max(row["until_ns"] for row in transfers),
        bins_ns=bins_ns,
        bytes=payloads,
        longest_silence=silence,
    )


def _before(flow: Flow, failure: Change, changes: Sequence[Change]) -> tuple[int, int]:
    """(length of time, payload) of what was before a failure."""
    earlier = [c.at_ns for c in changes if c.at_ns < failure.at_ns - TOGETHER_NS]
    since_ns = max([flow.start_ns, failure.at_ns - BEFORE_NS, *earlier])
    return failure.at_ns - since_ns, flow.delivered(since_ns, failure.at_ns)


def _bin(time_ns: int) -> int:
    return time_ns // BIN_NS * BIN_NS
