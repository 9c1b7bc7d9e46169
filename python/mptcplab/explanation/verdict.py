"""Causes and remedies by what their trials gained: which count, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mptcplab.explanation.candidates import NOTICEABLE, Candidate
from mptcplab.explanation.changes import together
from mptcplab.explanation.told import Cause, Change, Remedy
from mptcplab.explanation.trials import Trial, Trials
from mptcplab.metrics.statistics import Estimate

SEEDS = 5
"""Repetitions of each trial."""
FIRST_SEEDS = 2
"""Those of a remedy. One that gains nothing by them gets no more: most of them help nothing."""
MORE_SEEDS = 15
"""Repetitions where a gain would count but may be chance: beside others' flows single runs differ
by half of the rate."""


_MOST_CONTENDERS = 4
"""Remedies of which more runs decide which one is the best."""


@dataclass(frozen=True)
class Weighed:
    """A candidate and what was measured of it."""

    candidate: Candidate
    alone: Trial | None
    """Without it; null where that cannot be tried."""
    put_back: Trial | None = None
    """With it, and without all other causes; null where it costs something alone."""

    def gain(self, base: Trial, clean: Trial | None) -> Estimate | None:
        """Gained without it; where that is nothing, the same of a scenario without other causes.

        Causes hide each other: of two buffers that are too small, neither gains anything where
        the other one stays.
        """
        if self.alone is None:
            return None
        of_others = self.candidate.harms_others
        gain = self.alone.gain_over(base, of_others=of_others)
        if clean is None or self.put_back is None:
            return gain
        hidden = clean.gain_over(self.put_back)
        return hidden if counts(hidden, base.mean_mbps(of_others=False)) else gain


def judged(
    trials: Trials, found: Sequence[Candidate], changes: Sequence[Change]
) -> tuple[Sequence[Cause], Sequence[Remedy]]:
    """Runs the trials of candidates and of remedies, in rounds, and judges them.

    Raises:
        EngineError: a run failed.
        ScenarioError: a file that the scenario names is not there.

    """
    alone = [None if one.without is None else trials.add(one.without) for one in found]
    of_causes = [place for place in alone if place is not None]
    of_remedies = [place for one in changes if (place := trials.add(one)) is not None]
    first = dict.fromkeys(of_remedies, FIRST_SEEDS)
    trials.reach(first | dict.fromkeys((0, *of_causes), SEEDS))
    promising = [p for p in of_remedies if (trials[p].gain_over(trials[0]).mean or 0) > 0]
    weighed = [
        Weighed(one, None if place is None else trials[place])
        for one, place in zip(found, alone, strict=True)
    ]
    clean, put_back = _without_all(trials, weighed)
    again = [place for place in (clean, *put_back) if place is not None]
    trials.reach(dict.fromkeys((*promising, *again), SEEDS))
    paid_by_others = {place for one, place in zip(found, alone, strict=True) if one.harms_others}
    open_ones = [
        place
        for place in (*of_causes, *promising)
        if is_undecided(trials[0], trials[place], of_others=place in paid_by_others)
    ]
    open_ones += _contenders(trials, promising)
    if open_ones:
        trials.reach(dict.fromkeys((0, *open_ones), MORE_SEEDS))
    weighed = [
        replace(
            one,
            alone=None if place is None else trials[place],
            put_back=None if back is None else trials[back],
        )
        for one, place, back in zip(weighed, alone, put_back, strict=True)
    ]
    causes = causes_of(trials[0], weighed, None if clean is None else trials[clean])
    return causes, changes_that_help(trials[0], [trials[place] for place in promising])


def _contenders(trials: Trials, places: Sequence[int]) -> Sequence[int]:
    """The best remedy and those that may be better, a few; none where it stands apart."""
    gains = {place: trials[place].gain_over(trials[0]) for place in places}
    best_first = sorted(places, key=lambda place: -(gains[place].mean or 0))
    if not best_first:
        return ()
    least, _ = gains[best_first[0]].ci95 or (0.0, 0.0)
    found = [
        place for place in best_first if (interval := gains[place].ci95) and interval[1] > least
    ]
    return found[:_MOST_CONTENDERS] if len(found) > 1 else ()


def _without_all(
    trials: Trials, weighed: Sequence[Weighed]
) -> tuple[int | None, Sequence[int | None]]:
    """The place of a trial without any cause; and with each put back that costs nothing alone."""
    base = trials[0]
    removable = [
        number
        for number, one in enumerate(weighed)
        if one.alone is not None and one.candidate.is_removable
    ]
    hidden = [
        number
        for number in removable
        if not counts(weighed[number].gain(base, None), base.mean_mbps(of_others=False))
    ]
    nothing: list[int | None] = [None] * len(weighed)
    if len(removable) < 2 or not hidden:
        return None, nothing

    def without(numbers: Sequence[int]) -> int | None:
        changes = [weighed[number].candidate.without for number in numbers]
        return trials.add(together([one for one in changes if one is not None]))

    clean = without(removable)
    if clean is None:
        return None, nothing
    for number in hidden:
        nothing[number] = without([other for other in removable if other != number])
    return clean, nothing


def causes_of(
    base: Trial, weighed: Sequence[Weighed], clean: Trial | None = None
) -> Sequence[Cause]:
    """The candidates that cost something, as measured, the worst first; and those not tried.

    One that could not be tried stands behind those with a cost, but before them where it left the
    connection a single path.
    """
    single_path: list[Cause] = []
    costly: list[Cause] = []
    seen: list[Cause] = []
    for each in weighed:
        one = each.candidate
        gain = each.gain(base, clean)
        mean = base.mean_mbps(of_others=one.harms_others)
        if gain is not None and counts(gain, mean):
            factor = (mean + (gain.mean or 0)) / mean if mean else float("inf")
            costly.append(Cause(one.name, one.path, one.evidence, gain.mean, None, factor))
        elif one.cost_s is not None:
            costly.append(Cause(one.name, one.path, one.evidence, None, one.cost_s, one.factor))
        elif each.alone is None and one.is_seen:
            untried = Cause(one.name, one.path, one.evidence, None, None, 1.0, one.unused_mbps)
            (single_path if one.is_single_path else seen).append(untried)
    costly.sort(key=lambda cause: -cause.factor)
    seen.sort(key=lambda cause: -(cause.at_most_mbps or 0))
    return [*single_path, *costly, *seen]


def changes_that_help(base: Trial, trials: Sequence[Trial]) -> Sequence[Remedy]:
    """The remedies that gain something, the best first; not those that take it from others."""
    has_others = any(run.others_mbps for run in base.runs)
    mean = base.mean_mbps(of_others=False)
    remedies = [
        Remedy(
            trial.change,
            trial.goodput,
            gain,
            trial.gain_over(base, of_others=True) if has_others else None,
        )
        for trial in trials
        if trial.change is not None
        for gain in (trial.gain_over(base),)
        if counts(gain, mean) and counts(trial.gain_of_all_over(base), mean)
    ]
    return sorted(remedies, key=lambda one: -(one.gain.mean or 0))


def is_undecided(base: Trial, trial: Trial, *, of_others: bool = False) -> bool:
    """Whether a gain would count, but may be chance: its interval has zero."""
    gain = trial.gain_over(base, of_others=of_others)
    return _is_noticeable(gain, base.mean_mbps(of_others=of_others)) and not _is_certain(gain)


def counts(gain: Estimate | None, mean: float) -> bool:
    """Whether a gain is more than chance, and noticeable."""
    return gain is not None and _is_certain(gain) and _is_noticeable(gain, mean)


def _is_certain(gain: Estimate) -> bool:
    least = gain.mean if gain.ci95 is None else gain.ci95[0]
    return bool(least and least > 0)


def _is_noticeable(gain: Estimate, mean: float) -> bool:
    return (gain.mean or 0) > 0 and (gain.mean or 0) >= NOTICEABLE * mean
