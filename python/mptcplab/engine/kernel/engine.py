"""The kernel engine: one run after the other, since each wants the whole machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from mptcplab.engine.job import EngineError, Job, Progress
from mptcplab.engine.kernel.coupled import held
from mptcplab.engine.kernel.run import Run
from mptcplab.recording import RecordingError
from mptcplab.scenario import for_variant


class KernelEngine:
    """Runs jobs on the real Linux stack."""

    def __init__(self) -> None:
        self._current: Run | None = None
        self._is_stopped = False

    def execute(self, jobs: Sequence[Job], progress: Progress) -> list[str]:
        """See `Engine.execute`."""
        try:
            with held({control for job in jobs for control in _controls(job)}):
                return self._execute(jobs, progress)
        except EngineError as error:
            return [str(error)]

    def _execute(self, jobs: Sequence[Job], progress: Progress) -> list[str]:
        for number, job in enumerate(jobs):
            if self._is_stopped:
                break
            try:
                with Run(job, partial(progress.reached, number)) as run:
                    progress.begun(number, run.expected_s)
                    self._current = run
                    if self._is_stopped:
                        run.stop()
                    run.execute()
            except (EngineError, RecordingError) as error:
                return [f"{job.task.scenario.name}, variant {job.task.variant}: {error}"]
            finally:
                self._current = None
                progress.ended(number)
        return []

    def stop(self) -> None:
        """See `Engine.stop`."""
        self._is_stopped = True
        if self._current is not None:
            self._current.stop()


def _controls(job: Job) -> Iterator[str]:
    scenario = for_variant(job.task.scenario, job.task.variant)
    return (host.congestion_control for host in scenario.hosts.values())
