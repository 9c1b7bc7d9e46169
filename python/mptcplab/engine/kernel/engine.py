"""The kernel engine: one run after the other, since each wants the whole machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mptcplab.engine.kernel.run import Run
from mptcplab.engine.task import EngineError, Job, Progress


class KernelEngine:
    """Runs jobs on the real Linux stack."""

    def __init__(self) -> None:
        self._current: Run | None = None
        self._is_stopped = False

    def execute(self, jobs: Sequence[Job], progress: Progress) -> list[str]:
        """See `Engine.execute`."""
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
            except EngineError as error:
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
