"""The same scenario in the simulator, as it is and with single changes, with the same seeds."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mptcplab.engine.choice import SIM, refusals
from mptcplab.engine.job import EngineError, Job, NullProgress, Task
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
from mptcplab.recording import Recording
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

    def gain_over(self, other: Trial, *, of_others: bool = False) -> Estimate:
        """By how much more it carries than another, seed by seed, Mbit/s."""
        pairs = zip(self.runs, other.runs, strict=True)
        if of_others:
            return estimate([a.others_mbps - b.others_mbps for a, b in pairs])
        return estimate([a.own_mbps - b.own_mbps for a, b in pairs])


def why_not(scenario: Scenario, variant: str) -> str | None:
    """Why the simulator cannot try the scenario; null where it can."""
    found = refusals(SIM, scenario, [variant])
    return found[0].reason if found else None


def tried(
    scenario: Scenario,
    variant: str,
    changes: Sequence[Change | None],
    seeds: Sequence[int],
    workers: int | None = None,
) -> list[Trial]:
    """Runs the variant with each change and each seed; leaves out changes that do not fit it.

    Raises:
        EngineError: a run failed.
        ScenarioError: a file that the scenario names is not there.

    """
    fitting: list[tuple[Change | None, Scenario]] = []
    for change in changes:
        try:
            made = scenario if change is None else changed(scenario, variant, change)
        except ScenarioError:
            continue
        if not refusals(SIM, made, [variant]):
            fitting.append((change, made))
    with tempfile.TemporaryDirectory(prefix="mptcplab-explain-") as folder:
        jobs = [
            Job(Task(made, variant, 1, seed), Path(folder) / str(number) / str(seed))
            for number, (_, made) in enumerate(fitting)
            for seed in seeds
        ]
        failures = SimEngine(workers).execute(jobs, NullProgress())
        if failures:
            raise EngineError("\n".join(failures))
        found = [_figures(Recording.open(job.folder)) for job in jobs]
    return [
        Trial(change, found[number * len(seeds) : (number + 1) * len(seeds)])
        for number, (change, _) in enumerate(fitting)
    ]


def _figures(recording: Recording) -> Figures:
    rows = own_transfers(payload_transfers(timed_transfers(recording, PlanView(recording))))
    own = [row for row in rows if row["protocol"] == "mptcp"]
    others = [row for row in rows if row["protocol"] != "mptcp"]
    return Figures(goodput_mbps(own) or 0.0, goodput_mbps(others) or 0.0)
