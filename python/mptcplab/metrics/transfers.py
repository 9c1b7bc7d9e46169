"""Figures of transfers: goodput, completion, joins."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.programs import KIND as PROGRAMS
from mptcplab.metrics.programs import program_times_s, program_transfers
from mptcplab.metrics.statistics import jain_index
from mptcplab.recording import Recording, Status

NS_PER_S = 1e9


def timed_transfers(recording: Recording, plan: PlanView) -> pl.DataFrame:
    """The table ``transfers`` with the columns that the figures need beside it.

    ``until_ns``: up to when the transfer counts. That is its last byte; but a transfer that failed
    counts longer, lest a short life look like a fast transfer: with a planned duration to its
    planned end, or to the moment at which the run was interrupted; with a size to the end of the
    run. Where the end is unknown, it is that of the run.
    ``is_sized``: whether it had a size to carry.
    The connections of commands are among them (kind ``command``).
    """
    transfers = recording.frame("transfers").vstack(program_transfers(recording, plan))
    manifest = recording.manifest
    run_end_ns = None if manifest.duration_s is None else round(manifest.duration_s * NS_PER_S)
    interrupted = manifest.status is Status.INTERRUPTED

    def until(row: dict[str, Any]) -> int | None:
        end: int | None = row["end_ns"]
        duration_ns = plan.duration_ns(row["traffic"])
        if row["error"] is not None and plan.is_sized(row["traffic"], row["kind"]):
            end = end if run_end_ns is None else run_end_ns
        elif row["error"] is not None and duration_ns is not None and row["start_ns"] is not None:
            end = row["start_ns"] + duration_ns
            if interrupted and run_end_ns is not None:
                end = min(end, run_end_ns)
        return run_end_ns if end is None else end

    rows = transfers.to_dicts()
    return transfers.with_columns(
        pl.Series("until_ns", [until(row) for row in rows], pl.Int64),
        pl.Series(
            "is_sized", [plan.is_sized(row["traffic"], row["kind"]) for row in rows], pl.Boolean
        ),
    )


def payload_transfers(transfers: pl.DataFrame) -> pl.DataFrame:
    """Those that are there to carry payload: all but request and response."""
    return transfers.filter(pl.col("kind") != "request_response")


def own_transfers(transfers: pl.DataFrame) -> pl.DataFrame:
    """Those of which both ends are the lab's own: not the connections of commands."""
    return transfers.filter(pl.col("kind") != PROGRAMS)


def goodput_mbps(transfers: pl.DataFrame) -> float | None:
    """Payload delivered to the applications, over the time from the first start to the last byte.

    Mbit/s; null for no transfers, or none that lasted.
    """
    return rate_mbps(int(transfers["bytes"].sum()), transfers)


def rate_mbps(payload_bytes: int, transfers: pl.DataFrame) -> float | None:
    """Some payload over the time of the transfers, as their goodput is."""
    start, until = transfers["start_ns"].min(), transfers["until_ns"].max()
    if not isinstance(start, int) or not isinstance(until, int) or until <= start:
        return None
    return payload_bytes * 8 / (until - start) * NS_PER_S / 1e6


def goodput_by(transfers: pl.DataFrame, column: str) -> dict[str, float | None]:
    """Goodput of the transfers that share a value of ``column``, by value, in order of mention."""
    return {
        str(value): goodput_mbps(group)
        for (value,), group in transfers.group_by([column], maintain_order=True)
    }


def completion_times_s(
    transfers: pl.DataFrame, recording: Recording, plan: PlanView
) -> list[float]:
    """From the start, before connecting, to the last byte.

    Of each transfer that has a size and ended without error, and of each command that did.
    """
    return _times_s(transfers.filter("is_sized")) + program_times_s(recording, plan, transfers)


def mean_completion_s(sized: pl.DataFrame) -> float | None:
    """The same for transfers that have a size, their mean; null where none ended without error."""
    times = _times_s(sized)
    return sum(times) / len(times) if times else None


def _times_s(sized: pl.DataFrame) -> list[float]:
    done = sized.filter(pl.col("error").is_null(), pl.col("end_ns").is_not_null())
    return [time / NS_PER_S for time in (done["end_ns"] - done["start_ns"]).drop_nulls()]


def completed_share(transfers: pl.DataFrame, programs: Mapping[str, bool]) -> float | None:
    """Share of the transfers, and of the commands, that ended without error."""
    own = own_transfers(transfers)
    count = own.height + len(programs)
    if count == 0:
        return None
    return (own["error"].null_count() + sum(programs.values())) / count


def fairness(transfers: pl.DataFrame) -> float | None:
    """Jain's index of the clients' goodputs."""
    goodputs = goodput_by(transfers, "client").values()
    return jain_index([goodput for goodput in goodputs if goodput is not None])


def longest_silence_s(transfers: pl.DataFrame) -> float | None:
    """Longest time between two deliveries to a receiver, of all transfers."""
    longest = transfers["longest_silence_ns"].max()
    return longest / NS_PER_S if isinstance(longest, int) else None


def is_multipath(transfers: pl.DataFrame, plan: PlanView) -> bool | None:
    """Whether each of these MPTCP connections is the multipath one that it claims to be.

    Null where none is known to fall short, but one is not known: it never connected, or joins were
    to be expected of it and were not counted.
    """
    verdicts = [
        _has_fallen_short(row["fallback"], row["joins"], plan.expected_joins(row["traffic"]))
        for row in transfers.iter_rows(named=True)
    ]
    if True in verdicts:
        return False
    return None if None in verdicts else True


def _has_fallen_short(fallback: bool | None, joins: int | None, expected: int) -> bool | None:
    if fallback is None or fallback:
        return fallback
    if expected == 0:
        return False
    return None if joins is None else joins < expected


def single_path_findings(transfers: pl.DataFrame, plan: PlanView) -> Sequence[str]:
    """Why this run is not the multipath run that it claims to be, a sentence for each flow.

    An MPTCP connection is at fault if it fell back to TCP, or if fewer subflows joined over its
    life than the topology gives reason to expect.
    """
    findings = []
    mptcp = transfers.filter(pl.col("protocol") == "mptcp")
    for (traffic,), group in mptcp.group_by(["traffic"], maintain_order=True):
        fallbacks = group.filter("fallback").height
        if fallbacks:
            findings.append(
                f"{traffic}: {fallbacks} of {group.height} connections fell back to TCP: "
                "one path only"
            )
        expected = plan.expected_joins(str(traffic))
        short = group.filter(~pl.col("fallback").fill_null(value=False), pl.col("joins") < expected)
        if short.height:
            least = min(short["joins"].to_list())
            findings.append(
                f"{traffic}: on {short.height} of {group.height} connections fewer subflows joined "
                f"than expected ({least} of {expected})"
            )
    return findings
