"""One run on the kernel engine: from a scenario's variant to a recording."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from mptcplab.engine.compile import compile_plan
from mptcplab.engine.job import EngineError, Job
from mptcplab.engine.kernel.command_socket import UNASKED, CommandSocket
from mptcplab.engine.kernel.failure import NotGrantedError
from mptcplab.engine.kernel.lab import Lab
from mptcplab.engine.kernel.pause_time import pause_ns
from mptcplab.engine.kernel.sysctl import read_sysctl
from mptcplab.engine.manifest import congestion_controls, expected_s, manifest
from mptcplab.engine.recorder import NANOSECONDS, Recorder, Row
from mptcplab.engine.watch import Watch, seen
from mptcplab.plan import Plan
from mptcplab.recording import Manifest, Writer
from mptcplab.shortage import DESCRIPTORS, told_by

ENGINE = "kernel"


class Run(AbstractContextManager["Run"]):
    """A run under way. Leaving the context ends whatever still runs."""

    def __init__(
        self,
        job: Job,
        reached: Callable[[float], None],
        watched: Callable[[Sequence[Row]], None],
        paused: Callable[[float], None],
    ) -> None:
        """Compiles the plan and makes the recording's folder; `reached` is told its seconds.

        If the job is live, `watched` is told what is to be shown. If it is to pause, `paused` is
        told when it has.

        Raises:
            EngineError: it is to pause at an event that there is not.
            ScenarioError: the variant cannot be compiled.
            RecordingError: the folder cannot be made.

        """
        task = job.task
        self._plan = compile_plan(task.scenario, task.variant, task.seed, job.capture)
        self._pause_at_ns = None if job.pause_at is None else pause_ns(job.pause_at, self._plan)
        self._paused = paused
        described = manifest(task, self._plan, ENGINE, **_circumstances(self._plan))
        watch = Watch(seen(self._plan), watched) if job.is_live else None
        writer = Writer(job.folder, described, keeps_rows=job.is_live)
        self._recorder = Recorder(writer, reached, watch)
        self._lab: Lab | None = None
        self._commands = CommandSocket(job.folder, self._command)
        self._is_stopped = False

    @property
    def expected_s(self) -> float | None:
        """How long the run lasts, where its traffic has a duration."""
        return expected_s(self._plan)

    def execute(self) -> Manifest:
        """Runs to the end and writes the recording.

        Raises:
            EngineError: the run failed. What was measured until then has been written.
            RecordingError: the recording cannot be written.

        """
        try:
            self._lab = Lab(self._plan)
            if self._is_stopped:
                self._lab.stop()
            if self._pause_at_ns is not None:
                self._lab.command(f"pause-at {self._pause_at_ns}")
            shortage: str | None = None
            for row in self._lab.rows(self._recorder.keep, self._answered):
                shortage = shortage or _shortage(row)
                if row["record"] == "ready":
                    self._commands.listen()
                self._recorder.take(row, self._lab.pid)
            if shortage is not None:
                raise NotGrantedError(shortage)
        except EngineError as error:
            self._recorder.fail(str(error))
            raise
        return self._recorder.finish()

    def _command(self, line: str) -> None:
        if self._lab is not None:
            self._lab.command(line)

    def _answered(self, row: Row) -> None:
        if row["number"] == UNASKED:
            self._paused(row["t_ns"] / NANOSECONDS)
        else:
            self._commands.answered(row)

    def stop(self) -> None:
        """Ends the traffic; the run then ends by itself, with what was measured.

        Also before the run has begun: a signal comes when it likes.
        """
        self._is_stopped = True
        if self._lab is not None:
            self._lab.stop()

    def kill(self) -> None:
        """Ends the lab at once: the run fails. From another thread."""
        self._is_stopped = True
        if self._lab is not None:
            self._lab.kill()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the lab if it has not ended."""
        self._commands.close()
        if self._lab is not None:
            self._lab.end()


_NOTHING_DONE = (
    "no file descriptors are left: nothing was run",
    "no file descriptors are left: nothing was sent",
)


def _shortage(row: Row) -> str | None:
    """The descriptors for want of which traffic failed: such a run is not what was asked for."""
    told = str(row.get({"transfers": "error", "warning": "text"}.get(row["record"], "")))
    return told_by(told) or (DESCRIPTORS if told.endswith(_NOTHING_DONE) else None)


def settings_of(plan: Plan) -> dict[str, Any]:
    """Settings of the kernel for the manifest: those of the plan, and those found here."""
    return {
        "congestion_control": congestion_controls(plan),
        **{name: read_sysctl(name) for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")},
    }


def _circumstances(plan: Plan) -> dict[str, Any]:
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "host": {"machine": platform.machine(), "cores": os.cpu_count()},
        "settings": settings_of(plan),
    }
