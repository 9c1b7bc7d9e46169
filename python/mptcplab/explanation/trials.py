"""The same scenario on an engine, as it is and with changes, with the same seeds."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from mptcplab.engine.choice import KERNEL, SIM, refusals
from mptcplab.engine.job import EngineError, Job, Progress, Task
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.explanation.changes import changed
from mptcplab.explanation.told import Change, Refused
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.statistics import Estimate, estimate
from mptcplab.metrics.transfers import (
    goodput_mbps,
    own_transfers,
    payload_transfers,
    timed_transfers,
)
from mptcplab.recording import Recording, RecordingError
from mptcplab.scenario import Scenario, ScenarioError, with_overrides
from mptcplab.temporary import temporary_folder

_SAMPLE_INTERVAL_S = 1
"""Of trials, which are read for their transfers alone: a run takes a quarter less time so."""

Follow = Callable[[Sequence[Job]], Progress]
"""Makes the progress of a round of trials."""


@dataclass(frozen=True)
class Figures:
    """Goodput of one run, Mbit/s."""

    own_mbps: float
    """Over MPTCP."""
    others_mbps: float
    """By flows whose protocol is fixed to TCP."""


@dataclass(frozen=True)
class Trial:
    """A change that was tried."""

    change: Change | None
    """Null: as it is."""
    runs: Sequence[Figures]
    """A seed each, in order."""

    @property
    def goodput(self) -> Estimate:
        """Goodput over MPTCP, Mbit/s."""
        return estimate([one.own_mbps for one in self.runs])

    def mean_mbps(self, *, of_others: bool) -> float:
        """Mean over the runs, of the connections over MPTCP or of the others."""
        return fmean(one.others_mbps if of_others else one.own_mbps for one in self.runs)

    def gain_of_all_over(self, other: Trial) -> Estimate:
        """The same of all flows together: what is taken from others is no gain of it."""
        pairs = zip(self.runs, other.runs, strict=False)
        return estimate([a.own_mbps + a.others_mbps - b.own_mbps - b.others_mbps for a, b in pairs])

    def gain_over(self, other: Trial, *, of_others: bool = False) -> Estimate:
        """By how much more it carries than another, by the seeds that both ran with, Mbit/s."""
        pairs = list(zip(self.runs, other.runs, strict=False))
        if of_others:
            return estimate([a.others_mbps - b.others_mbps for a, b in pairs])
        return estimate([a.own_mbps - b.own_mbps for a, b in pairs])


def why_not(scenario: Scenario, variant: str) -> str | None:
    """Why the simulator cannot try the scenario; null where it can."""
    found = refusals(SIM, scenario, [variant])
    return found[0].reason if found else None


class Trials:
    """Trials of a variant's changes, each with as many seeds as were asked for so far."""

    def __init__(
        self,
        scenario: Scenario,
        variant: str,
        first_seed: int,
        workers: int | None = None,
        follow: Follow | None = None,
        engine: str = SIM,
    ) -> None:
        """Of a scenario in full; nothing is run yet. The kernel engine has one run at a time.

        Raises:
            ScenarioError: the scenario takes no changes.

        """
        interval_ns = max(scenario.sample_interval, _SAMPLE_INTERVAL_S * 10**9)
        self._scenario = with_overrides(scenario, {"sample_interval": f"{interval_ns} ns"})
        self._variant = variant
        self._first_seed = first_seed
        self._workers = workers
        self._follow = follow
        self._engine = engine
        self._made: list[tuple[Change | None, Scenario]] = [(None, self._scenario)]
        self._runs: list[list[Figures]] = [[]]
        self.refused: list[Refused] = []
        """Changes that the engine cannot try."""

    def add(self, change: Change) -> int | None:
        """The place of a change's trial; null where it cannot be tried. The place of none is 0."""
        try:
            made = changed(self._scenario, self._variant, change)
        except ScenarioError as error:
            self.refused.append(Refused(change, str(error.problems[0])))
            return None
        reasons = refusals(self._engine, made, [self._variant])
        if reasons:
            self.refused.append(Refused(change, reasons[0].reason))
            return None
        self._made.append((change, made))
        self._runs.append([])
        return len(self._made) - 1

    def __getitem__(self, place: int) -> Trial:
        """The trial of a place, as far as it was measured."""
        return Trial(self._made[place][0], tuple(self._runs[place]))

    def reach(self, wanted: Mapping[int, int]) -> None:
        """Runs the trials of these places until each has so many seeds.

        Raises:
            EngineError: a run failed.
            ScenarioError: a file that the scenario names is not there.

        """
        # Seeds are the outer loop, so that a machine that grows slower favours no change.
        asked = [
            (place, self._first_seed + number)
            for number in range(max(wanted.values(), default=0))
            for place, seeds in wanted.items()
            if len(self._runs[place]) <= number < seeds
        ]
        if not asked:
            return
        with temporary_folder("mptcplab-explain-") as folder:
            jobs = [
                Job(
                    Task(self._made[place][1], self._variant, 1, seed),
                    folder / str(place) / str(seed),
                )
                for place, seed in asked
            ]
            read = _Read(jobs, None if self._follow is None else self._follow(jobs))
            executor = KernelEngine() if self._engine == KERNEL else SimEngine(self._workers)
            failures = executor.execute(jobs, read) or read.failures
            if failures:
                raise EngineError("\n".join(failures))
        for number, (place, _) in enumerate(asked):
            self._runs[place].append(read.figures[number])


class _Read:
    """Reads the figures of each run as it ends, and deletes its recording: many may be large."""

    def __init__(self, jobs: Sequence[Job], shown: Progress | None) -> None:
        self.figures: dict[int, Figures] = {}
        self.failures: list[str] = []
        self._jobs = jobs
        self._shown = shown

    def begun(self, number: int, expected_s: float | None) -> None:
        """See `mptcplab.engine.job.Progress`."""
        if self._shown is not None:
            self._shown.begun(number, expected_s)

    def reached(self, number: int, seconds: float) -> None:
        """See `mptcplab.engine.job.Progress`."""
        if self._shown is not None:
            self._shown.reached(number, seconds)

    def watched(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """See `mptcplab.engine.job.Progress`: no trial is live."""

    def paused(self, number: int, seconds: float) -> None:
        """See `mptcplab.engine.job.Progress`: no trial pauses."""

    def ended(self, number: int) -> None:
        """See `mptcplab.engine.job.Progress`."""
        folder = self._jobs[number].folder
        try:
            self.figures[number] = figures_of(Recording.open(folder))
        except RecordingError as error:
            # The engine tells of a run that failed before its recording was whole.
            self.failures.append(str(error))
        shutil.rmtree(folder, ignore_errors=True)
        if self._shown is not None:
            self._shown.ended(number)


def figures_of(recording: Recording) -> Figures:
    """The goodputs of a recording.

    Raises:
        RecordingError: a table is missing or damaged.

    """
    rows = own_transfers(payload_transfers(timed_transfers(recording, PlanView(recording))))
    own = [row for row in rows if row["protocol"] == "mptcp"]
    others = [row for row in rows if row["protocol"] != "mptcp"]
    return Figures(goodput_mbps(own) or 0.0, goodput_mbps(others) or 0.0)
