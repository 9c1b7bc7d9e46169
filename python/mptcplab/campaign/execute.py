"""Carrying out the runs of a campaign that are not there yet."""

from __future__ import annotations

import json
import os
import selectors
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from mptcplab.campaign.description import Campaign
from mptcplab.campaign.ledger import Ledger
from mptcplab.campaign.pending import Pending, identity, setup
from mptcplab.campaign.record import failed
from mptcplab.engine.job import EngineError
from mptcplab.engine.sim.process import Worker
from mptcplab.engine.sim.protocol import STOP
from mptcplab.progress import Display
from mptcplab.scenario import Scenario

RECORDINGS = "recordings"
MOST_DEATHS = 3
"""Worker processes that may end with the same run under way, or before their first one."""
_LOOKS_EVERY_S = 0.2
"""Longest time until a request to stop is passed on."""
_MODULE = "mptcplab.campaign.worker"


@dataclass
class _Batch:
    """The runs that a worker was given and has not answered; the first one is under way."""

    worker: Worker
    runs: deque[int] = field(default_factory=deque)
    is_ready: bool = False
    is_busy: bool = False
    """It has not told the end of the batch yet."""


class SimCampaign:
    """Simulates the missing runs, in several processes."""

    def __init__(
        self,
        scenario: Scenario,
        campaign: Campaign,
        ledger: Ledger,
        folder: Path,
        workers: int | None,
    ) -> None:
        self._grid = ledger.grid
        self._ledger = ledger
        self._limit = workers or len(os.sched_getaffinity(0))
        self._seed = campaign.result.seed
        self._setup = setup(scenario, campaign, folder / RECORDINGS if campaign.samples else None)
        self._pending = Pending(ledger)
        self._deaths: dict[int, int] = {}
        self._early_deaths = 0
        """Worker processes that ended before they were ready, since one was."""
        self._batches: list[_Batch] = []
        self._is_stopped = False
        self._left = self._grid.runs - ledger.found

    def execute(self, display: Display | None, name: str) -> None:
        """Does what is missing.

        Raises:
            EngineError: the worker processes cannot work.
            RecordingError: a record cannot be written.

        """
        done = 0
        with selectors.DefaultSelector() as selector:
            try:
                for _ in range(min(self._limit, self._left)):
                    self._start(selector)
                while any(batch.is_busy for batch in self._batches):
                    self._pass_stop_on()
                    self._ledger.sync_when_due()
                    for key, _ in selector.select(_LOOKS_EVERY_S):
                        batch: _Batch = key.data
                        done += self._take(batch)
                        if batch.worker.is_gone:
                            selector.unregister(key.fileobj)
                            self._batches.remove(batch)
                            self._bury(batch)
                            if self._pending and not self._is_stopped:
                                self._start(selector)
                    if display is not None:
                        total = self._grid.runs
                        place = self._ledger.found + done
                        display.show(f"{name} ({place}/{total})", float(done))
            finally:
                for batch in self._batches:
                    batch.worker.end()

    def stop(self) -> None:
        """Ends what runs and begins nothing more; what is done is kept. From a signal's handler."""
        self._is_stopped = True

    def _start(self, selector: selectors.DefaultSelector) -> None:
        worker = Worker.of_module(_MODULE, inherits=self._ledger.lock)
        batch = _Batch(worker)
        self._batches.append(batch)
        selector.register(worker.process.stdout, selectors.EVENT_READ, batch)  # type: ignore[arg-type]
        worker.send(self._setup)
        self._next(batch)

    def _next(self, batch: _Batch) -> None:
        if self._is_stopped:
            return
        runs = self._pending.take(self._left // (4 * self._limit))
        if runs:
            batch.runs.extend(runs)
            batch.is_busy = True
            batch.worker.send([identity(self._grid, run, self._seed) for run in runs])

    def _pass_stop_on(self) -> None:
        for batch in self._batches:
            if self._is_stopped and batch.is_busy and not batch.worker.is_told_to_stop:
                batch.worker.is_told_to_stop = True
                batch.worker.send(STOP)

    def _take(self, batch: _Batch) -> int:
        """Keeps the records that a worker has told; gives how many."""
        kept = 0
        for line in batch.worker.lines():
            if line == b"null":
                # A run that was told to stop is left out.
                batch.runs.clear()
                batch.is_busy = False
                self._next(batch)
            elif line.startswith(b'"'):
                if not batch.is_ready and line == b'"ready"':
                    batch.is_ready = True
                    self._early_deaths = 0
                    continue
                raise EngineError(json.loads(line))
            else:
                self._keep(batch.runs.popleft(), line)
                kept += 1
        return kept

    def _keep(self, run: int, line: bytes) -> None:
        self._left -= 1
        self._ledger.add(run, line)

    def _bury(self, batch: _Batch) -> None:
        """Gives the runs of a worker that has ended to others, unless it is one that ends them."""
        status = batch.worker.process.wait()
        if not batch.runs:
            return
        if not batch.is_ready:
            self._early_deaths += 1
            if self._early_deaths >= MOST_DEATHS:
                raise EngineError(f"a worker process ended before its first run (status {status})")
            self._pending.give_back(batch.runs)
            return
        first = batch.runs[0]
        self._deaths[first] = self._deaths.get(first, 0) + 1
        if self._deaths[first] >= MOST_DEATHS:
            batch.runs.popleft()
            why = f"the worker process ended unexpectedly (status {status})"
            record = failed(identity(self._grid, first, self._seed), why)
            self._keep(first, json.dumps(record).encode())
        self._pending.give_back(batch.runs)
