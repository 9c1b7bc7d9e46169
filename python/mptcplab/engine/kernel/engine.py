"""The kernel engine: one run after the other, as each wants the whole machine, or several."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial

from mptcplab.engine.job import EngineError, Job, Progress
from mptcplab.engine.kernel.coupled import held
from mptcplab.engine.kernel.run import Run
from mptcplab.recording import RecordingError
from mptcplab.scenario import for_variant

_LOOKS_EVERY_S = 0.2


class KernelEngine:
    """Runs jobs on the real Linux stack."""

    def __init__(self, workers: int | None = None) -> None:
        """With so many runs at once; one where null."""
        self._limit = workers or 1
        self._under_way: set[Run] = set()
        self._is_stopped = False

    def execute(self, jobs: Sequence[Job], progress: Progress) -> list[str]:
        """See `Engine.execute`."""
        try:
            with held({control for job in jobs for control in _controls(job)}):
                return self._execute(jobs, progress)
        except EngineError as error:
            return [str(error)]

    def _execute(self, jobs: Sequence[Job], progress: Progress) -> list[str]:
        waiting = deque(enumerate(jobs))
        if self._limit == 1:
            return self._work(waiting, progress)
        with ThreadPoolExecutor(self._limit) as threads:
            try:
                every = [threads.submit(self._work, waiting, progress) for _ in range(self._limit)]
                # Signals are handled between two looks.
                while wait(every, _LOOKS_EVERY_S).not_done:
                    pass
                return [failure for one in every for failure in one.result()]
            except BaseException:
                waiting.clear()
                for run in tuple(self._under_way):
                    run.kill()
                raise

    def _work(self, waiting: deque[tuple[int, Job]], progress: Progress) -> list[str]:
        """Carries out what waits, one after the other, until it is empty or a run has failed."""
        while not self._is_stopped:
            try:
                number, job = waiting.popleft()
            except IndexError:
                break
            try:
                self._run(number, job, progress)
            except (EngineError, RecordingError) as error:
                waiting.clear()
                return [f"{job.task.scenario.name}, variant {job.task.variant}: {error}"]
            except BaseException:
                waiting.clear()
                raise
            finally:
                progress.ended(number)
        return []

    def _run(self, number: int, job: Job, progress: Progress) -> None:
        told = (progress.reached, progress.watched, progress.paused)
        with Run(job, *(partial(tell, number) for tell in told)) as run:
            progress.begun(number, run.expected_s)
            self._under_way.add(run)
            try:
                if self._is_stopped:
                    run.stop()
                run.execute()
            finally:
                self._under_way.discard(run)

    def stop(self) -> None:
        """See `Engine.stop`."""
        self._is_stopped = True
        for run in tuple(self._under_way):
            run.stop()


def _controls(job: Job) -> Iterator[str]:
    scenario = for_variant(job.task.scenario, job.task.variant)
    return (host.congestion_control for host in scenario.hosts.values())
