"""Measurements between real hosts, of which recordings say it in place of a plan."""

from collections.abc import Mapping, Sequence

from mptcplab.metrics.benefit import bound_mbps, transfer_benefits
from mptcplab.metrics.rate import NS_PER_S, mbps
from mptcplab.metrics.rows import Row
from mptcplab.recording import Recording
from mptcplab.recording.manifest import Measured


def is_alone(one: Measured, other: Measured) -> bool:
    """Whether it is TCP over one of the paths of the other, with the same to carry."""
    return one.kind == "tcp" and one.path in other.paths and _carry_the_same(one, other)


def is_at_once(one: Measured, other: Measured) -> bool:
    """Whether it is TCP over all paths of the other at once, with the same to carry."""
    return one.kind == "at-once" and one.paths == other.paths and _carry_the_same(one, other)


def _carry_the_same(one: Measured, other: Measured) -> bool:
    return (one.way, one.bytes) == (other.way, other.bytes)


def measured_benefits(
    recording: Recording, alone: Mapping[str, Recording], at_once: Recording | None
) -> tuple[float | None, float | None]:
    """Both benefits of a transfer by MPTCP, beside those of the same repetition.

    ``alone`` has the recordings of TCP over single paths, by path. As on the page of its result:
    null where one of the paths has none, where MPTCP fell back, and where nothing finished.
    """
    measured = recording.manifest.measured
    assert measured is not None
    mptcp = _transfer(recording)
    single = [_transfer(alone[path]) if path in alone else None for path in measured.paths]
    every = [mptcp, *single]
    is_finished = any(row is not None and row["error"] is None for row in every)
    if measured.bytes is None or mptcp is None or mptcp["fallback"] or not is_finished:
        return None, None
    beside = None if at_once is None else _transfer(at_once)
    rate, *rates = _rates(every, measured.longest_s)
    return transfer_benefits(
        measured.bytes, rate, rates, None if beside is None else _goodput(beside)
    )


def _transfer(recording: Recording) -> Row | None:
    columns = ("start_ns", "end_ns", "bytes", "fallback", "error")
    return next(iter(recording.rows("transfers", columns)), None)


def _rates(rows: Sequence[Row | None], longest_s: float) -> list[float | None]:
    """The goodputs, or bounds of the rate of those that did not finish."""
    return [None if row is None else _rate(row, longest_s) for row in rows]


def _rate(row: Row, longest_s: float) -> float | None:
    if row["error"] is None or row["bytes"] is None:
        return _goodput(row)
    return bound_mbps(row["bytes"], (_lasted_ns(row) or 0) / NS_PER_S, longest_s)


def _goodput(row: Row) -> float | None:
    lasted_ns = _lasted_ns(row)
    return None if row["bytes"] is None or lasted_ns is None else mbps(row["bytes"], lasted_ns)


def _lasted_ns(row: Row) -> int | None:
    """Null where it is not known, or no time."""
    if row["start_ns"] is None or row["end_ns"] is None:
        return None
    lasted_ns: int = row["end_ns"] - row["start_ns"]
    return lasted_ns if lasted_ns > 0 else None


def excuses(recordings: Sequence[Recording]) -> list[str]:
    """The reasons for which no figure rests on these, each once: there may be thousands."""
    by_reason: dict[str, list[int]] = {}
    for manifest in (recording.manifest for recording in recordings):
        reason = manifest.warnings[0] if manifest.warnings else str(manifest.status)
        by_reason.setdefault(reason, []).append(manifest.repetition)
    return [
        f"repetition {numbers[0]} does not count: {reason}"
        if len(numbers) == 1
        else f"{len(numbers)} repetitions do not count, the first is {numbers[0]}: {reason}"
        for reason, numbers in by_reason.items()
    ]
