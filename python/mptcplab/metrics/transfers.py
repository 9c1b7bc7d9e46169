"""Figures of transfers: goodput, completion, joins."""

from collections.abc import Mapping, Sequence

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.programs import KIND as PROGRAMS
from mptcplab.metrics.programs import program_times_s, program_transfers
from mptcplab.metrics.rate import NS_PER_S, mbps
from mptcplab.metrics.rows import Row, grouped, known, total
from mptcplab.metrics.statistics import jain_index
from mptcplab.recording import Recording, Status
from mptcplab.recording.tables import TRANSFERS


def timed_transfers(recording: Recording, plan: PlanView) -> list[Row]:
    """The table ``transfers`` with the columns that the figures need beside it.

    ``until_ns``: up to when the transfer counts. That is its last byte; but a transfer that failed
    counts longer, lest a short life look like a fast transfer: with a planned duration to its
    planned end, or to the moment at which the run was interrupted; with a size to the end of the
    run. Where the end is unknown, it is that of the run.
    ``is_sized``: whether it had a size to carry.
    The connections of commands are among them (kind ``command``).
    """
    manifest = recording.manifest
    run_end_ns = None if manifest.duration_s is None else round(manifest.duration_s * NS_PER_S)
    interrupted = manifest.status is Status.INTERRUPTED

    def until(row: Row) -> int | None:
        end: int | None = row["end_ns"]
        duration_ns = plan.duration_ns(row["traffic"])
        if row["error"] is not None and plan.is_sized(row["traffic"], row["kind"]):
            end = end if run_end_ns is None else run_end_ns
        elif row["error"] is not None and duration_ns is not None and row["start_ns"] is not None:
            end = row["start_ns"] + duration_ns
            if interrupted and run_end_ns is not None:
                end = min(end, run_end_ns)
        return run_end_ns if end is None else end

    rows = [*recording.rows("transfers", TRANSFERS.schema), *program_transfers(recording, plan)]
    return [
        {**row, "until_ns": until(row), "is_sized": plan.is_sized(row["traffic"], row["kind"])}
        for row in rows
    ]


def payload_transfers(transfers: Sequence[Row]) -> list[Row]:
    """Those that are there to carry payload: all but request and response."""
    return [row for row in transfers if row["kind"] != "request_response"]


def own_transfers(transfers: Sequence[Row]) -> list[Row]:
    """Those of which both ends are the lab's own: not the connections of commands."""
    return [row for row in transfers if row["kind"] != PROGRAMS]


def together_ns(transfers: Sequence[Row]) -> tuple[int, int] | None:
    """The time in which all of these transfers were going on, ending after it begins.

    Null where there is none, or a transfer has a size or failed: its end tells how fast it was.
    """
    if not transfers or any(row["is_sized"] or row["error"] is not None for row in transfers):
        return None
    starts = [row["start_ns"] for row in transfers]
    ends = [row["until_ns"] for row in transfers]
    if None in starts or None in ends or max(starts) >= min(ends):
        return None
    return max(starts), min(ends)


def goodput_mbps(transfers: Sequence[Row]) -> float | None:
    """Payload delivered to the applications, over the time from the first start to the last byte.

    Mbit/s; null for no transfers, or none that lasted.
    """
    return rate_mbps(total(transfers, "bytes"), transfers)


def rate_mbps(payload_bytes: int, transfers: Sequence[Row]) -> float | None:
    """Some payload over the time of the transfers, as their goodput is."""
    starts, ends = known(transfers, "start_ns"), known(transfers, "until_ns")
    if not starts or not ends or max(ends) <= min(starts):
        return None
    return mbps(payload_bytes, max(ends) - min(starts))


def goodput_by(transfers: Sequence[Row], column: str) -> dict[str, float | None]:
    """Goodput of the transfers that share a value of ``column``, by value, in order of mention."""
    return {
        str(value): goodput_mbps(group) for (value,), group in grouped(transfers, column).items()
    }


def sized_transfers(transfers: Sequence[Row]) -> list[Row]:
    """Those that have a size to carry."""
    return [row for row in transfers if row["is_sized"]]


def completion_times_s(
    transfers: Sequence[Row], recording: Recording, plan: PlanView
) -> list[float]:
    """From the start, before connecting, to the last byte.

    Of each transfer that has a size and ended without error, and of each command that did.
    """
    return _times_s(sized_transfers(transfers)) + program_times_s(recording, plan, transfers)


def mean_completion_s(sized: Sequence[Row]) -> float | None:
    """The same for transfers that have a size, their mean; null where none ended without error."""
    times = _times_s(sized)
    return sum(times) / len(times) if times else None


def _times_s(sized: Sequence[Row]) -> list[float]:
    return [
        (row["end_ns"] - row["start_ns"]) / NS_PER_S
        for row in sized
        if row["error"] is None and row["end_ns"] is not None and row["start_ns"] is not None
    ]


def completed_share(transfers: Sequence[Row], programs: Mapping[str, bool]) -> float | None:
    """Share of the transfers, and of the commands, that ended without error."""
    own = own_transfers(transfers)
    count = len(own) + len(programs)
    if count == 0:
        return None
    return (sum(row["error"] is None for row in own) + sum(programs.values())) / count


def fairness(transfers: Sequence[Row]) -> float | None:
    """Jain's index of the clients' goodputs."""
    goodputs = goodput_by(transfers, "client").values()
    return jain_index([goodput for goodput in goodputs if goodput is not None])


def longest_silence_s(transfers: Sequence[Row]) -> float | None:
    """Longest time between two deliveries to a receiver, of all transfers."""
    silences = known(transfers, "longest_silence_ns")
    return max(silences) / NS_PER_S if silences else None


def is_multipath(transfers: Sequence[Row], plan: PlanView) -> bool | None:
    """Whether each of these MPTCP connections is the multipath one that it claims to be.

    Null where none is known to fall short, but one is not known: it never connected, or joins were
    to be expected of it and were not counted.
    """
    verdicts = [
        _has_fallen_short(row["fallback"], row["joins"], plan.expected_joins(row["traffic"]))
        for row in transfers
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


def single_path_findings(transfers: Sequence[Row], plan: PlanView) -> Sequence[str]:
    """Why this run is not the multipath run that it claims to be, a sentence for each flow.

    An MPTCP connection is at fault if it fell back to TCP, or if fewer subflows joined over its
    life than the topology gives reason to expect.
    """
    findings = []
    mptcp = [row for row in transfers if row["protocol"] == "mptcp"]
    for (traffic,), group in grouped(mptcp, "traffic").items():
        fallbacks = sum(bool(row["fallback"]) for row in group)
        if fallbacks:
            findings.append(
                f"{traffic}: {fallbacks} of {len(group)} connections fell back to TCP: "
                "one path only"
            )
        expected = plan.expected_joins(traffic)
        joins = known([row for row in group if not row["fallback"]], "joins")
        short = [number for number in joins if number < expected]
        if short:
            findings.append(
                f"{traffic}: on {len(short)} of {len(group)} connections fewer subflows joined "
                f"than expected ({min(short)} of {expected})"
            )
    return findings
