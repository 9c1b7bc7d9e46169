"""Carrying out the runs of a campaign that are not there yet."""

from __future__ import annotations

import json
import os
import selectors
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from mptcplab.campaign.description import Campaign
from mptcplab.campaign.grid import Grid
from mptcplab.campaign.record import Record, failed
from mptcplab.campaign.store import Ledger
from mptcplab.engine.job import EngineError
from mptcplab.engine.sim.process import Worker
from mptcplab.engine.sim.protocol import STOP
from mptcplab.progress import Display
from mptcplab.scenario import Scenario

RECORDINGS = "recordings"
MOST_BATCH = 48
"""Runs that a worker is given at once."""
MOST_DEATHS = 3
"""Worker processes that may end with the same run under way."""
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
        self._setup = {
            "scenario": {
                "text": scenario.text,
                "origin": scenario.origin,
                "folder": str(scenario.folder.resolve()),
                "name": scenario.name,
            },
            "versions": campaign.versions.model_dump(),
            "seed": self._seed,
            "samples": str((folder / RECORDINGS).resolve()) if campaign.samples else None,
        }
        self._missing: Iterator[int] = ledger.missing()
        self._again: deque[int] = deque()
        self._deaths: dict[int, int] = {}
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
                    for key, _ in selector.select(_LOOKS_EVERY_S):
                        batch: _Batch = key.data
                        done += self._take(batch)
                        if batch.worker.is_gone:
                            selector.unregister(key.fileobj)
                            self._batches.remove(batch)
                            self._bury(batch)
                            if self._has_more():
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
        share = self._left // (4 * self._limit)
        size = len(self._grid.variants)
        # Whole units: a point is compiled for all variants at once.
        count = max(size, min(MOST_BATCH, share) // size * size)
        again = [self._again.popleft() for _ in range(min(count, len(self._again)))]
        runs = [*again, *islice(self._missing, count - len(again))]
        if runs:
            batch.runs.extend(runs)
            batch.is_busy = True
            batch.worker.send([identity(self._grid, run, self._seed) for run in runs])

    def _has_more(self) -> bool:
        """Whether something is left that no worker has."""
        if not self._again:
            self._again.extend(islice(self._missing, 1))
        return bool(self._again) and not self._is_stopped

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
        if not batch.is_ready:
            raise EngineError(f"a worker process ended before its first run (status {status})")
        if not batch.runs:
            return
        first = batch.runs[0]
        self._deaths[first] = self._deaths.get(first, 0) + 1
        if self._deaths[first] >= MOST_DEATHS:
            batch.runs.popleft()
            why = f"the worker process ended unexpectedly (status {status})"
            record = failed(identity(self._grid, first, self._seed), why)
            self._keep(first, json.dumps(record).encode())
        self._again.extend(batch.runs)


def identity(grid: Grid, run: int, seed: int) -> Record:
    """The part of a run's record that is known before it begins; `seed` is the campaign's."""
    point, repetition, variant = grid.place(run)
    return {
        "run": run,
        "point": point,
        "repetition": repetition,
        "variant": variant,
        "seed": grid.seed(run, seed),
    }
