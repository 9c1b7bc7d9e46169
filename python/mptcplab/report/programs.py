"""Traffic and end of each command, for the tables of a report."""

import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.metrics import VariantMetrics
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.programs import Connection, End, connections
from mptcplab.metrics.rows import Row
from mptcplab.recording import Recording
from mptcplab.report.chosen import representative
from mptcplab.report.text import printable


@dataclass(frozen=True)
class PathAccount:
    """The sockets of a command over one interface of its host."""

    interface: str
    sockets: int
    down_bytes: int
    """Payload, at the level of subflows."""
    up_bytes: int
    retransmitted_bytes: int
    """By both ends."""
    min_rtt_ms: float | None
    rtt_ms: float | None
    """The last smoothed one, of the socket that sent the most."""


@dataclass(frozen=True)
class ProgramAccount:
    """A command in the repetition that represents its variant."""

    variant: str
    traffic: str
    command: str
    repetition: int
    duration_s: float
    ended: str
    """As in the table ``programs``, and so the next three."""
    status: int | None
    signal: int | None
    error: str | None
    lines: int
    """How many lines it wrote."""
    connections: int
    paths: tuple[PathAccount, ...]

    @property
    def ending(self) -> str:
        """How it ended and after how long, in words."""
        if self.ended == "failed":
            return f"could not be run: {self.error or ''}"
        seconds = f"after {self.duration_s:.3g} s"
        if self.status is not None:
            return f"exit status {self.status} {seconds}"
        if self.signal is not None:
            return f"killed by {_signal(self.signal)} {seconds}"
        return f"{'its time was over' if self.ended == 'duration' else 'stopped'} {seconds}"


def program_accounts(variant: VariantMetrics) -> tuple[ProgramAccount, ...]:
    """The accounts of the commands of a variant, in the order in which they were started.

    Raises:
        RecordingError: a table is damaged.

    """
    run = representative(variant)
    if run is None:
        return ()
    recording, plan = run.recording, PlanView(run.recording)
    runs = recording.frame("programs").filter(side="client").sort("start_ns")
    carried = connections(recording, plan)
    return tuple(
        _account(variant.name, row, carried.get(row["traffic"], []), recording)
        for row in runs.iter_rows(named=True)
    )


def _account(
    variant: str, row: dict[str, Any], own: Sequence[Connection], recording: Recording
) -> ProgramAccount:
    by_interface: dict[str, list[End]] = {}
    for connection in own:
        for end in connection.ends:
            by_interface.setdefault(end.own["interface"] or "?", []).append(end)
    return ProgramAccount(
        variant=variant,
        traffic=row["traffic"],
        command=printable(row["command"]),
        repetition=recording.manifest.repetition,
        duration_s=(row["end_ns"] - row["start_ns"]) / 1e9,
        ended=row["ended"],
        status=row["status"],
        signal=row["signal"],
        error=None if row["error"] is None else printable(row["error"]),
        lines=recording.frame("outputs").filter(traffic=row["traffic"]).height,
        connections=len(own),
        paths=tuple(_path(interface, ends) for interface, ends in sorted(by_interface.items())),
    )


def _path(interface: str, ends: Sequence[End]) -> PathAccount:
    rows = [row for end in ends for row in (end.own, end.peer) if row is not None]
    least = [row["min_rtt_us"] for row in rows if row["min_rtt_us"] is not None]
    sender = max(rows, key=lambda row: row["bytes_sent"] or 0)
    return PathAccount(
        interface=interface,
        sockets=len(ends),
        down_bytes=sum(end.received for end in ends),
        up_bytes=sum(end.delivered for end in ends),
        retransmitted_bytes=_sum(rows, "bytes_retrans"),
        min_rtt_ms=min(least) / 1e3 if least else None,
        rtt_ms=sender["rtt_us"] / 1e3 if sender["rtt_us"] else None,
    )


def _sum(rows: Iterable[Row], column: str) -> int:
    return sum(row[column] or 0 for row in rows)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
