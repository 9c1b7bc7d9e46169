"""Moments of a run that metrics are about."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from mptcplab.metrics.plan_view import Change, PlanView
from mptcplab.metrics.recovery import handover_gaps_s, recoveries_s
from mptcplab.metrics.rows import Row
from mptcplab.metrics.transfers import (
    own_transfers,
    payload_transfers,
    sized_transfers,
    timed_transfers,
)
from mptcplab.recording import Recording

Moment = tuple[int, str]
"""Time in nanoseconds, and the thing that happens there, in words."""


def moment(metric: str, recording: Recording, view: PlanView) -> Moment | None:
    """The moment that a metric of a recording is about; null of one that is of the whole run.

    `recovery_s`, `handover_gap_s`: the failure or the change after which it took longest;
    `recovery_s.PATH`: where the path is back; `longest_silence_s`: where the silence begins;
    `completion_s`: where the slowest transfer ends; `establishment_s`: where the last connection is
    established, or the last subflow of that number has joined; `completed`: where the first
    transfer fails.

    Raises:
        RecordingError: a table is missing or damaged.

    """
    base, _, part = metric.partition(".")
    transfers = timed_transfers(recording, view)
    own = own_transfers(payload_transfers(transfers))
    match base:
        case "recovery_s" if part:
            return _return(part, view.changes)
        case "recovery_s":
            found = recoveries_s(own, recording, view.changes)
            return _longest([(inf if s is None else s, change) for s, change in found])
        case "handover_gap_s":
            return _longest(handover_gaps_s(own, recording, view.changes))
        case "longest_silence_s":
            return _longest_silence(payload_transfers(transfers))
        case "completion_s":
            return _slowest(sized_transfers(transfers), part)
        case "establishment_s":
            return _establishment(own_transfers(transfers), recording, part)
        case "completed":
            return _failed(transfers)
    return None


def _return(path: str, changes: Sequence[Change]) -> Moment | None:
    """The first return of a path, named by its link or a client's interface."""
    for change in changes:
        names = {change.link, *(interface for _, interface in change.interfaces)}
        if change.up and path in names:
            return change.at_ns, f"where {path} is back"
    return None


def _longest(found: Sequence[tuple[float, Change]]) -> Moment | None:
    """The first of the changes after which it took longest."""
    if not found:
        return None
    _, change = max(found, key=lambda one: one[0])
    return change.at_ns, f"at the event {change.label}"


def _longest_silence(transfers: Sequence[Row]) -> Moment | None:
    known = [row for row in transfers if row["longest_silence_ns"] is not None]
    if not known:
        return None
    row = max(known, key=lambda one: one["longest_silence_ns"])
    begin_ns = row["longest_silence_at_ns"] or row["start_ns"] or 0
    return begin_ns, f"where the longest silence of {row['traffic']} begins"


def _slowest(sized: Sequence[Row], part: str) -> Moment | None:
    """The end of the transfer that took longest; of one flow where `part` is its name."""
    known = [row for row in sized if row["start_ns"] is not None and row["until_ns"] is not None]
    named = [row for row in known if row["traffic"] == part] or known
    if not named:
        return None
    row = max(named, key=lambda one: one["until_ns"] - one["start_ns"])
    return row["until_ns"], f"where the slowest transfer of {row['traffic']} ends"


def _failed(transfers: Sequence[Row]) -> Moment | None:
    failed = [row for row in transfers if row["error"] is not None and row["end_ns"] is not None]
    if not failed:
        return None
    row = min(failed, key=lambda one: one["end_ns"])
    return row["end_ns"], f"where the transfer of {row['traffic']} fails"


def _establishment(transfers: Sequence[Row], recording: Recording, part: str) -> Moment | None:
    if part.startswith("join"):
        times = [
            row["t_ns"]
            for row in recording.rows("joins", ("number", "t_ns"))
            if f"join{row['number']}" == part
        ]
        return (max(times), "where the last of these subflows has joined") if times else None
    known = [row["connected_ns"] for row in transfers if row["connected_ns"] is not None]
    return (max(known), "where the last connection is established") if known else None
