"""From an engine's rows to a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from mptcplab.engine.watch import Row, Watch
from mptcplab.recording import Lab, Manifest, Status

__all__ = ["NANOSECONDS", "Recorder", "Row", "Target"]

NANOSECONDS = 1_000_000_000


class Target(Protocol):
    """Where the rows of a run go: `Writer` or `MemoryWriter`."""

    def ready(self, lab: Lab) -> None:
        """The run goes on, in this process."""

    def lines(self, lines: bytes) -> None:
        """Keeps lines of rows until there are tables."""

    def row(self, table: str, values: Mapping[str, object]) -> None:
        """Adds a row to a table."""

    def warn(self, sentence: str) -> None:
        """Adds a warning."""

    def emulator(self, **figures: object) -> None:
        """Adds figures about how the engine did."""

    def finish(self, status: Status, duration_s: float) -> Manifest:
        """Ends the recording."""


class Recorder:
    """Takes the rows of one run and passes them on to where they are kept."""

    def __init__(
        self, writer: Target, reached: Callable[[float], None], watch: Watch | None = None
    ) -> None:
        """`reached` is told the seconds of the run."""
        self._writer = writer
        self._watch = watch
        self._reached = reached
        self._reached_ns = 0
        self._is_interrupted = True
        """Until the last row says otherwise."""

    def keep(self, lines: bytes) -> None:
        """Keeps the lines of rows that were taken, for the case that everything is killed."""
        self._writer.lines(lines)

    def take(self, row: Row, lab_pid: int | None = None) -> None:
        """Records a row; `lab_pid` is the process to enter while the run lasts."""
        self._reached_ns = max(self._reached_ns, row.get("t_ns") or 0)
        self._reached(self._reached_ns / NANOSECONDS)
        if self._watch is not None:
            self._watch.take(row)
        match row.pop("record"):
            case "ready":
                if lab_pid is not None:
                    nodes = {name: thread for name, thread in row["nodes"].items() if thread}
                    self._writer.ready(Lab(pid=lab_pid, nodes=nodes))
                self._writer.emulator(setup_ns=row["setup_ns"])
            case "warning":
                self._writer.warn(row["text"])
            case "done":
                self._is_interrupted = bool(row.pop("interrupted"))
                self._writer.emulator(**row)
            case table:
                self._writer.row(table, row)

    def finish(self) -> Manifest:
        """Writes the recording of a run that ended, or was interrupted.

        Raises:
            RecordingError: it cannot be written.

        """
        status = Status.INTERRUPTED if self._is_interrupted else Status.COMPLETE
        return self._writer.finish(status, self._reached_ns / NANOSECONDS)

    def fail(self, why: str) -> None:
        """Writes what was measured until the run failed.

        Raises:
            RecordingError: it cannot be written.

        """
        self._writer.warn(why)
        self._writer.finish(Status.FAILED, self._reached_ns / NANOSECONDS)
