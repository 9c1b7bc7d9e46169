"""The same scenario in the simulator, as it is and with single changes, with the same seeds."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from mptcplab.engine.choice import SIM, refusals
from mptcplab.engine.job import EngineError, Job, Progress, Task
from mptcplab.engine.sim.engine import SimEngine
from mptcplab.explain.changes import Change, changed
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.statistics import Estimate, estimate
from mptcplab.metrics.transfers import (
    goodput_mbps,
    own_transfers,
    payload_transfers,
    timed_transfers,
)
from mptcplab.recording import Recording, RecordingError
from mptcplab.scenario import Scenario, ScenarioError


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

    def gain_over(self, other: Trial, *, of_others: bool = False) -> Estimate:
        """By how much more it carries than another, by the seeds that both ran with, Mbit/s."""
        pairs = list(zip(self.runs, other.runs, strict=False))
        if of_others:
            return estimate([a.others_mbps - b.others_mbps for a, b in pairs])
        return estimate([a.own_mbps - b.own_mbps for a, b in pairs])

    def with_more(self, other: Trial) -> Trial:
        """Of the same change, with the runs of further seeds."""
        return Trial(self.change, [*self.runs, *other.runs])


@dataclass(frozen=True)
class Refused:
    """A change that could not be tried."""

    change: Change
    reason: str
    """One line."""


def why_not(scenario: Scenario, variant: str) -> str | None:
    """Why the simulator cannot try the scenario; null where it can."""
    found = refusals(SIM, scenario, [variant])
    return found[0].reason if found else None


def fitting(
    scenario: Scenario, variant: str, changes: Sequence[Change]
) -> tuple[list[tuple[Change | None, Scenario]], list[Refused]]:
    """The scenario as it is and with each change that the simulator can try; and those it cannot.

    The scenario is in full.
    """
    found: list[tuple[Change | None, Scenario]] = [(None, scenario)]
    refused = []
    for change in changes:
        try:
            made = changed(scenario, variant, change)
        except ScenarioError as error:
            refused.append(Refused(change, str(error.problems[0])))
            continue
        reasons = refusals(SIM, made, [variant])
        if reasons:
            refused.append(Refused(change, reasons[0].reason))
        else:
            found.append((change, made))
    return found, refused


def tried(
    variant: str,
    made: Sequence[tuple[Change | None, Scenario]],
    seeds: Sequence[int],
    workers: int | None = None,
    follow: Callable[[Sequence[Job]], Progress] | None = None,
) -> list[Trial]:
    """Runs the variant of each scenario with each seed.

    Raises:
        EngineError: a run failed.
        ScenarioError: a file that the scenario names is not there.

    """
    with tempfile.TemporaryDirectory(prefix="mptcplab-explain-") as folder:
        jobs = [
            Job(Task(scenario, variant, 1, seed), Path(folder) / str(number) / str(seed))
            for number, (_, scenario) in enumerate(made)
            for seed in seeds
        ]
        read = _Read(jobs, None if follow is None else follow(jobs))
        failures = SimEngine(workers).execute(jobs, read) or read.failures
        if failures:
            raise EngineError("\n".join(failures))
    return [
        Trial(change, [read.figures[number * len(seeds) + place] for place in range(len(seeds))])
        for number, (change, _) in enumerate(made)
    ]


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

    def ended(self, number: int) -> None:
        """See `mptcplab.engine.job.Progress`."""
        folder = self._jobs[number].folder
        try:
            self.figures[number] = _figures(Recording.open(folder))
        except RecordingError as error:
            # The engine tells of a run that failed before its recording was whole.
            self.failures.append(str(error))
        shutil.rmtree(folder, ignore_errors=True)
        if self._shown is not None:
            self._shown.ended(number)


def _figures(recording: Recording) -> Figures:
    rows = own_transfers(payload_transfers(timed_transfers(recording, PlanView(recording))))
    own = [row for row in rows if row["protocol"] == "mptcp"]
    others = [row for row in rows if row["protocol"] != "mptcp"]
    return Figures(goodput_mbps(own) or 0.0, goodput_mbps(others) or 0.0)
