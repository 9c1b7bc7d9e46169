"""An explanation: where the time of a recording's connections went, why, and what helps."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.engine.job import Job, Progress
from mptcplab.explain.account import Account, account
from mptcplab.explain.candidates import NOTICEABLE, Candidate, candidates
from mptcplab.explain.changes import Change, Changes, in_full
from mptcplab.explain.observed import Observed
from mptcplab.explain.trials import Refused, Trial, fitting, tried, why_not
from mptcplab.metrics.statistics import Estimate
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario, ScenarioError

SEEDS = 5
"""Repetitions of each trial."""
FURTHER_SEEDS = 10
"""More of them, where a gain would count but may be chance by the first ones."""


@dataclass(frozen=True)
class Cause:
    """A cause that costs something, or that was seen and could not be tried."""

    name: str
    path: str | None
    evidence: Sequence[str]
    cost_mbps: float | None
    """By how much more goes without it; of others where they pay for it."""
    cost_s: float | None
    """Delay that it adds, where it costs no goodput."""
    factor: float
    """By how many times it makes goodput or delay worse, by which causes are ranked."""
    at_most_mbps: float | None = None
    """Where it could not be tried: the rates of the links that were not used for it, if known."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        key, cost = ("cost_mbps", self.cost_mbps)
        if self.cost_s is not None:
            key, cost = "cost_s", self.cost_s
        elif self.cost_mbps is None and self.at_most_mbps is not None:
            key, cost = "cost_at_most_mbps", self.at_most_mbps
        return {"name": self.name, key: cost, "path": self.path, "evidence": list(self.evidence)}


@dataclass(frozen=True)
class Remedy:
    """A change that was tried and helped."""

    change: Change
    goodput: Estimate
    gain: Estimate
    """Over the same scenario without it, seed by seed, Mbit/s."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        return {
            "change": dict(self.change.values),
            "settings": list(self.change.settings),
            "goodput_mbps": {"mean": self.goodput.mean, "ci95": _ends(self.goodput)},
            "gain": self.gain.mean,
            "gain_ci95": _ends(self.gain),
            "stock_kernel": self.change.stock_kernel,
        }


@dataclass(frozen=True)
class Explanation:
    """The account of a recording's MPTCP, causes, and what helps."""

    accounts: Sequence[Account]
    causes: Sequence[Cause]
    """Those that cost most come first; but for a single path, those not tried come last."""
    remedies: Sequence[Remedy]
    """Those that gain most come first."""
    goodput_mbps: float | None
    """In the simulator, as it is; null where nothing was tried."""
    untried: str | None
    """Why nothing was tried."""
    refused: Sequence[Refused] = ()
    """Changes that could not be tried."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        return {
            "connections": [
                {
                    "traffic": one.connection.transfer["traffic"],
                    "index": one.connection.transfer["index"],
                    "duration_s": one.duration_ns / 1e9,
                    "account_s": _seconds(one.times_ns),
                    "paths": {path: _seconds(times) for path, times in one.paths_ns.items()},
                }
                for one in self.accounts
            ],
            "causes": [one.to_json() for one in self.causes],
            "remedies": [one.to_json() for one in self.remedies],
            "simulated_mbps": self.goodput_mbps,
            "untried": self.untried,
            "refused": [
                {"change": dict(one.change.values), "reason": one.reason} for one in self.refused
            ],
        }


def explain(
    recording: Recording,
    scenario: Scenario | None,
    *,
    workers: int | None = None,
    remedies: bool = True,
    trials: bool = True,
    follow: Callable[[Sequence[Job]], Progress] | None = None,
) -> Explanation:
    """Explains a recording; `scenario` is that of its result, null where it is not known.

    Causes are those of the longest connection. Without `trials` there is the account alone.
    `follow` makes the progress of the trials.

    Raises:
        RecordingError: a table is missing or damaged, or there is no plan.
        EngineError: a trial failed.

    """
    observed = Observed(recording)
    accounts = [account(observed, one) for one in observed.connections]
    variant = recording.manifest.variant
    untried = None
    if not accounts:
        untried = "the recording has no transfer over MPTCP"
    elif scenario is None:
        untried = "its scenario is not known: explain the result's folder"
    elif not trials:
        untried = "only the account was asked for"
    else:
        untried = why_not(scenario, variant)
    if untried is not None or scenario is None:
        return Explanation(accounts, (), (), None, untried)
    # Connections of one flow are alike: the longest tells most.
    longest = max(accounts, key=lambda one: one.duration_ns)
    first = recording.manifest.seed
    try:
        full = in_full(scenario)
        changes = Changes(full, variant, observed.plan, longest.connection)
        found = candidates(observed, longest, changes)
        tries = [one.without for one in found if one.without is not None]
        if remedies:
            tries += changes.remedies()
        made, refused = fitting(full, variant, tries)
        done = tried(variant, made, range(first, first + SEEDS), workers, follow)
        of_others = {id(one.without) for one in found if one.harms_others}
        open_ones = undecided(done, of_others)
        if open_ones:
            again = [made[0], *(made[place] for place in open_ones)]
            seeds = range(first + SEEDS, first + SEEDS + FURTHER_SEEDS)
            more = tried(variant, again, seeds, workers, follow)
            for place, trial in zip((0, *open_ones), more, strict=True):
                done[place] = done[place].with_more(trial)
    except ScenarioError as error:
        return Explanation(accounts, (), (), None, str(error.problems[0]))
    base = done[0]
    by_change = {id(one.change): one for one in done[1:]}
    return Explanation(
        accounts,
        causes_of(base, by_change, found),
        changes_that_help(base, done, found) if remedies else (),
        base.goodput.mean,
        None,
        refused,
    )


def undecided(done: Sequence[Trial], of_others: Container[int]) -> Sequence[int]:
    """Places of the trials whose gain would count, but may be chance: their interval has zero.

    Congestion control beside others' flows is chaotic: single runs differ by half of the rate.
    """
    base = done[0]
    found = []
    for place, trial in enumerate(done[1:], start=1):
        harms = id(trial.change) in of_others
        gain = trial.gain_over(base, of_others=harms)
        if _is_noticeable(gain, base.mean_mbps(of_others=harms)) and not _is_certain(gain):
            found.append(place)
    return found


def causes_of(
    base: Trial, by_change: dict[int, Trial], found: Sequence[Candidate]
) -> Sequence[Cause]:
    """The candidates that cost something, as measured, the worst first; and those not tried.

    One that could not be tried stands behind those with a cost, but before them where it left the
    connection a single path.
    """
    single_path: list[Cause] = []
    costly: list[Cause] = []
    seen: list[Cause] = []
    for one in found:
        trial = by_change.get(id(one.without))
        gain = None if trial is None else trial.gain_over(base, of_others=one.harms_others)
        mean = base.mean_mbps(of_others=one.harms_others)
        if gain is not None and _counts(gain, mean):
            factor = (mean + (gain.mean or 0)) / mean if mean else float("inf")
            costly.append(Cause(one.name, one.path, one.evidence, gain.mean, None, factor))
        elif one.cost_s is not None:
            costly.append(Cause(one.name, one.path, one.evidence, None, one.cost_s, one.factor))
        elif trial is None:
            untried = Cause(one.name, one.path, one.evidence, None, None, 1.0, one.unused_mbps)
            (single_path if one.is_single_path else seen).append(untried)
    costly.sort(key=lambda cause: -cause.factor)
    seen.sort(key=lambda cause: -(cause.at_most_mbps or 0))
    return [*single_path, *costly, *seen]


def changes_that_help(
    base: Trial, trials: Sequence[Trial], found: Sequence[Candidate]
) -> Sequence[Remedy]:
    """The remedies that gain something, the best first."""
    own = {id(one.without) for one in found}
    remedies = [
        Remedy(trial.change, trial.goodput, gain)
        for trial in trials[1:]
        if trial.change is not None and id(trial.change) not in own
        for gain in (trial.gain_over(base),)
        if _counts(gain, base.goodput.mean or 0)
    ]
    return sorted(remedies, key=lambda one: -(one.gain.mean or 0))


def _counts(gain: Estimate, mean: float) -> bool:
    """Whether a gain is more than chance, and noticeable."""
    return _is_certain(gain) and _is_noticeable(gain, mean)


def _is_certain(gain: Estimate) -> bool:
    least = gain.mean if gain.ci95 is None else gain.ci95[0]
    return bool(least and least > 0)


def _is_noticeable(gain: Estimate, mean: float) -> bool:
    return (gain.mean or 0) > 0 and (gain.mean or 0) >= NOTICEABLE * mean


def _ends(of: Estimate) -> list[float] | None:
    return None if of.ci95 is None else list(of.ci95)


def _seconds(times_ns: Any) -> dict[str, float]:
    return {state: ns / 1e9 for state, ns in sorted(times_ns.items(), key=lambda item: -item[1])}
