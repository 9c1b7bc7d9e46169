"""Carrying out the missing runs of a campaign on a Dask cluster.

The scheduler and the workers are the user's, started by any deployment of Dask. A task is a batch
of runs; its records come back with its result, and are kept as those of a local worker are. Dask
gives the tasks of a worker that was lost to others.
"""

from __future__ import annotations

import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from mptcplab.campaign.cluster_address import Cluster
from mptcplab.campaign.cluster_connection import answers, connected
from mptcplab.campaign.cluster_files import Files
from mptcplab.campaign.cluster_task import RESOURCE, Done, TaskError, carry_out, is_on_kernel
from mptcplab.campaign.cluster_workers import Workers
from mptcplab.campaign.description import Campaign
from mptcplab.campaign.ledger import Ledger
from mptcplab.campaign.pending import Pending, identity, setup
from mptcplab.campaign.record import failed
from mptcplab.engine.job import EngineError
from mptcplab.progress import Display
from mptcplab.scenario import Scenario

if TYPE_CHECKING:
    from distributed import Client, Future

_LOOKS_EVERY_S = 0.2
"""Longest time until a request to stop is passed on."""
_TASK_S = 1.0
"""Time that a task is to take: what the loss of a worker costs."""
_RESULT_S = 5.0
"""Longest time until a result is here, whose worker may have been lost."""
_FEWEST_TASKS = 8
"""Tasks that the scheduler has also without workers: deployments start them by what waits."""


@dataclass
class _Pace:
    """How long runs take, from those that are done."""

    runs: int = 0
    time_s: float = 0.0

    def runs_of_task(self) -> int:
        """How many make a task."""
        return round(_TASK_S * self.runs / self.time_s) if self.time_s else 1


class ClusterCampaign:
    """Has the missing runs done by the workers of a Dask scheduler."""

    def __init__(
        self, scenario: Scenario, campaign: Campaign, ledger: Ledger, cluster: Cluster
    ) -> None:
        self._ledger = ledger
        self._cluster = cluster
        self._seed = campaign.result.seed
        self._versions = campaign.versions.model_dump()
        self._is_on_kernel = is_on_kernel(self._versions)
        self._setup = setup(scenario, campaign, None)
        self._files = Files(scenario, campaign)
        self._pending = Pending(ledger)
        self._left = ledger.grid.runs - ledger.found
        self._ended: SimpleQueue[Future] = SimpleQueue()
        self._under_way: dict[str, tuple[Future, list[int]]] = {}
        self._suspects: deque[int] = deque()
        """Runs of tasks whose workers have ended."""
        self._suspect: str | None = None
        """Task of the only one of them that is under way."""
        self._pace = _Pace()
        self._is_stopped = False
        self.notes: list[str] = []
        """Sentences on workers that were given no more runs."""

    def execute(self, display: Display | None, name: str) -> None:
        """Does what is missing.

        Raises:
            EngineError: the cluster cannot work, or its scheduler has gone.
            RecordingError: a record cannot be written.

        """
        with connected(self._cluster) as client:
            workers = Workers(client, self._cluster, self._versions)
            workers.check()
            while self._left and not self._is_stopped:
                workers.look()
                self._ledger.sync_when_due()
                self._submit_more(client, workers.places)
                with suppress(Empty):
                    self._take(self._ended.get(timeout=_LOOKS_EVERY_S), workers)
                if display is not None:
                    place = f"{self._ledger.grid.runs - self._left}/{self._ledger.grid.runs}"
                    display.show(f"{name} ({place}), {workers.words}", float(self._ledger.done))
            for future in [future for future, _ in self._under_way.values()]:
                if future.status == "finished":
                    self._take(future, workers)
            with suppress(OSError):
                client.cancel([future for future, _ in self._under_way.values()])
            self.notes = workers.notes

    def stop(self) -> None:
        """Ends what runs and begins nothing more; what is done is kept. From a signal's handler."""
        self._is_stopped = True

    def _submit_more(self, client: Client, places: int) -> None:
        if self._suspects and self._suspect is None:
            self._suspect = self._submit(client, [self._suspects.popleft()])
        share = self._left // (4 * max(1, places))
        while len(self._under_way) < max(_FEWEST_TASKS, 2 * places) and self._pending:
            runs = self._pending.take(min(self._pace.runs_of_task(), share))
            # On the kernel each takes long.
            for task in [[run] for run in runs] if self._is_on_kernel else [runs]:
                self._submit(client, task)

    def _submit(self, client: Client, runs: list[int]) -> str:
        """Makes a task of some runs; gives its key."""
        told = [identity(self._ledger.grid, run, self._seed) for run in runs]
        resources = {RESOURCE: 1} if self._is_on_kernel else None
        own = self._setup | {"files": self._files.of(one["point"] for one in told)}
        future = client.submit(carry_out, own, told, pure=False, resources=resources)
        key: str = future.key
        self._under_way[key] = future, runs
        future.add_done_callback(self._ended.put)
        return key

    def _take(self, future: Future, workers: Workers) -> None:
        """Keeps the records of a task that has ended, or sees to what has become of it."""
        _, runs = self._under_way[future.key]
        done: Done | None = None
        if future.status != "error":
            with answers(self._cluster):
                done = _result(future)
            if done is None:
                # Its worker was lost with the result: another one makes it again.
                future.add_done_callback(self._ended.put)
                return
        del self._under_way[future.key]
        is_suspect = future.key == self._suspect
        if is_suspect:
            self._suspect = None
        if done is None:
            self._see_to(runs, is_suspect, future.exception())
            return
        if done.refused is not None:
            workers.refuse(done.worker, done.refused)
        self._pace.runs += len(done.records)
        self._pace.time_s += done.time_s
        for run, line in done.records:
            self._keep(run, line)
        kept = {run for run, _ in done.records}
        self._pending.give_back(run for run in runs if run not in kept)

    def _see_to(self, runs: list[int], is_suspect: bool, error: BaseException | None) -> None:
        """Has runs done again whose workers have ended, unless it is one that ends them.

        One after the other: tasks that waited at those workers seem to have ended them, too.
        """
        from distributed import KilledWorker

        if isinstance(error, TaskError):
            raise EngineError(str(error))
        if not isinstance(error, KilledWorker):
            raise EngineError(f"a task failed: {type(error).__name__}: {error}")
        if not is_suspect:
            self._suspects.extend(runs)
            return
        times = error.allowed_failures + 1
        why = f"the worker that had this run ended unexpectedly, {times} times in a row"
        record = failed(identity(self._ledger.grid, runs[0], self._seed), why)
        self._keep(runs[0], json.dumps(record).encode())

    def _keep(self, run: int, line: bytes) -> None:
        self._left -= 1
        self._ledger.add(run, line)


def _result(future: Future) -> Done | None:
    """The result of a task; null where it does not come."""
    try:
        done: Done = future.result(timeout=_RESULT_S)
    except TimeoutError:
        return None
    return done
