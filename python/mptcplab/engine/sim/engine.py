"""The sim engine: jobs divided among worker processes.

A run depends on its plan alone, so the recordings are the same for every number of workers.
"""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Callable, Sequence

from mptcplab.engine.compile import compile_plan
from mptcplab.engine.job import Job, Progress
from mptcplab.engine.manifest import congestion_controls, expected_s, manifest
from mptcplab.engine.sim.process import Worker
from mptcplab.engine.sim.protocol import STOP
from mptcplab.engine.watch import seen

ENGINE = "sim"
_LOOKS_EVERY_S = 0.2
"""Longest time until a request to stop is passed on."""


class SimEngine:
    """Runs jobs in virtual time, several at once."""

    def __init__(
        self, workers: int | None = None, meanwhile: Callable[[], None] | None = None
    ) -> None:
        """With so many worker processes; one a core where null.

        `meanwhile` is called once, when all of them have work: this process only waits then.
        """
        self._meanwhile = meanwhile
        self._limit = workers or len(os.sched_getaffinity(0))
        self._workers: list[Worker] = []
        self._is_stopped = False

    def execute(self, jobs: Sequence[Job], progress: Progress) -> list[str]:
        """See `Engine.execute`."""
        waiting = deque(enumerate(jobs))
        failures: list[str] = []
        with selectors.DefaultSelector() as selector:
            try:
                for _ in range(min(self._limit, len(jobs))):
                    worker = Worker.start()
                    self._workers.append(worker)
                    selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
                    self._next(worker, waiting, progress)
                if self._meanwhile is not None:
                    self._meanwhile()
                while any(worker.number is not None for worker in self._workers):
                    self._pass_stop_on()
                    for key, _ in selector.select(_LOOKS_EVERY_S):
                        failure = _take(key.data, jobs, progress)
                        if failure is not None:
                            failures.append(failure)
                            waiting.clear()
                        if key.data.is_gone:
                            selector.unregister(key.fileobj)
                        elif key.data.number is None:
                            self._next(key.data, waiting, progress)
            finally:
                for worker in self._workers:
                    worker.end()
                self._workers.clear()
        return failures

    def stop(self) -> None:
        """See `Engine.stop`. The workers are told by `execute`, which may be writing to one."""
        self._is_stopped = True

    def _pass_stop_on(self) -> None:
        for worker in self._workers:
            if self._is_stopped and worker.number is not None and not worker.is_told_to_stop:
                worker.is_told_to_stop = True
                worker.send(STOP)

    def _next(self, worker: Worker, waiting: deque[tuple[int, Job]], progress: Progress) -> None:
        if self._is_stopped or not waiting:
            return
        number, job = waiting.popleft()
        worker.number = number
        task = job.task
        plan = compile_plan(task.scenario, task.variant, task.seed, job.capture)
        settings = {"congestion_control": congestion_controls(plan)}
        described = manifest(task, plan, ENGINE, settings=settings)
        progress.begun(number, expected_s(plan))
        request = {
            "plan": plan.to_json(),
            "manifest": described.model_dump(mode="json"),
            "folder": str(job.folder.resolve()),
            "seen": seen(plan).to_json() if job.is_live else None,
        }
        worker.send(request)


def _take(worker: Worker, jobs: Sequence[Job], progress: Progress) -> str | None:
    """Takes what a worker has said; gives what went wrong."""
    answers = worker.answers()
    if worker.is_gone:
        how = f"status {worker.process.wait()}"
        answers = [{"ended": f"the worker process ended unexpectedly ({how})"}]
    for answer in answers:
        number = worker.number
        if number is None:
            continue
        if "reached" in answer:
            progress.reached(number, answer["reached"])
            continue
        if "watched" in answer:
            progress.watched(number, answer["watched"])
            continue
        worker.number = None
        progress.ended(number)
        if answer["ended"] is not None:
            task = jobs[number].task
            return f"{task.scenario.name}, variant {task.variant}: {answer['ended']}"
    return None
