"""One run on the kernel engine: from a scenario's variant to a recording."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from mptcplab import __version__
from mptcplab.engine.kernel.compile import Capture, compile_plan
from mptcplab.engine.kernel.lab import Lab, LabError, Row
from mptcplab.engine.kernel.sysctl import read_sysctl
from mptcplab.recording import Lab as LabEntry
from mptcplab.recording import Manifest, Status, Writer
from mptcplab.scenario import Scenario, for_variant

ENGINE = "kernel"
NANOSECONDS = 1_000_000_000
_CONGESTION_CONTROLS = ("congestion_control", "server_congestion_control")


@dataclass(frozen=True)
class Task:
    """One repetition of one variant."""

    scenario: Scenario
    variant: str
    repetition: int
    """From 1."""
    seed: int


class Run(AbstractContextManager["Run"]):
    """A run under way. Leaving the context ends whatever still runs."""

    def __init__(self, task: Task, folder: Path, capture: Capture | None = None) -> None:
        """Compiles the plan and makes the recording's folder.

        Raises:
            ScenarioError: the variant cannot be compiled.
            RecordingError: the folder cannot be made.

        """
        self._plan = compile_plan(task.scenario, task.variant, task.seed, capture)
        self._writer = Writer(folder, _manifest(task, self._plan))
        self._lab: Lab | None = None
        self._is_stopped = False

    @property
    def expected_s(self) -> float | None:
        """How long the run lasts, where its traffic has a duration."""
        return expected_s(self._plan)

    def execute(self, progress: Callable[[float], None]) -> Manifest:
        """Runs to the end and writes the recording; `progress` is told the seconds of the run.

        Raises:
            LabError: the run failed. What was measured until then has been written.
            RecordingError: the recording cannot be written.

        """
        reached_ns = 0
        interrupted = False
        try:
            self._lab = Lab(self._plan)
            if self._is_stopped:
                self._lab.stop()
            for row in self._lab.rows():
                reached_ns = max(reached_ns, row.get("t_ns") or 0)
                progress(reached_ns / NANOSECONDS)
                interrupted = self._take(row)
        except LabError as error:
            self._writer.warn(str(error))
            self._writer.finish(Status.FAILED, reached_ns / NANOSECONDS)
            raise
        status = Status.INTERRUPTED if interrupted else Status.COMPLETE
        return self._writer.finish(status, reached_ns / NANOSECONDS)

    def stop(self) -> None:
        """Ends the traffic; the run then ends by itself, with what was measured.

        Also before the run has begun: a signal comes when it likes.
        """
        self._is_stopped = True
        if self._lab is not None:
            self._lab.stop()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the lab if it has not ended."""
        if self._lab is not None:
            self._lab.end()

    def _take(self, row: Row) -> bool:
        """Records a row; true for the last row of a run that was interrupted."""
        match row.pop("record"):
            case "ready":
                assert self._lab is not None
                self._writer.ready(LabEntry(pid=self._lab.pid, nodes=row["nodes"]))
                self._writer.emulator(setup_ns=row["setup_ns"])
            case "warning":
                self._writer.warn(row["text"])
            case "done":
                interrupted = bool(row.pop("interrupted"))
                self._writer.emulator(**row)
                return interrupted
            case table:
                self._writer.row(table, row)
        return False


def expected_s(plan: dict[str, Any]) -> float | None:
    """The end of the last item of traffic, where all have a duration; null otherwise."""
    ends = [_end_ns(item) for item in plan["traffic"]]
    known = [end for end in ends if end is not None]
    return max(known) / NANOSECONDS if len(known) == len(ends) else None


def _end_ns(item: dict[str, Any]) -> int | None:
    workload = item["workload"]
    if workload.get("duration_ns") is not None:
        return int(item["start_ns"] + workload["duration_ns"])
    if workload.get("interval_ns"):
        return int(item["start_ns"] + workload["interval_ns"] * workload["count"])
    return None


def settings_of(plan: dict[str, Any]) -> dict[str, Any]:
    """What the manifest tells of how the kernel was set: by the plan, and as it is here."""
    controls = {item[end] for item in plan["traffic"] for end in _CONGESTION_CONTROLS}
    return {
        "congestion_control": sorted(controls),
        **{name: read_sysctl(name) for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")},
    }


def _manifest(task: Task, plan: dict[str, Any]) -> Manifest:
    scenario = for_variant(task.scenario, task.variant)
    return Manifest(
        status=Status.RUNNING,
        scenario=scenario.name,
        variant=task.variant,
        protocol=scenario.variants[task.variant].protocol,
        repetition=task.repetition,
        seed=task.seed,
        engine=ENGINE,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        mptcplab=__version__,
        kernel=platform.release(),
        host={"machine": platform.machine(), "cores": os.cpu_count()},
        settings=settings_of(plan),
        plan=plan,
    )
