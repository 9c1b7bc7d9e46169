"""Does `mptcplab explain` name the cause that was put in by hand, and does its remedy help?

`--repeat` is the seed of the cases; `--seconds` does not matter. Remedies are held against a fixed
list of single changes: the best one by one seed, and the remedy that was told first, are measured
by others, with which neither was chosen. What is taken from flows of others counts as no gain. Each
case is a line of `out/explain-SEED.csv`.
"""

from __future__ import annotations

import csv
import json
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from mptcplab.engine import run
from mptcplab.explanation import Explanation, explain_recording
from mptcplab.explanation.candidates import NOTICEABLE
from mptcplab.explanation.told import Change
from mptcplab.explanation.trials import Trial, Trials
from mptcplab.explanation.verdict import counts
from mptcplab.metrics.statistics import Estimate
from mptcplab.scenario import Scenario, loads

from .effort import Effort
from .explain_cases import KINDS, Case, cases
from .explain_changes import every_change
from .figures import Figure, figure

_ROUNDS = 3
_CHOOSING_SEEDS = 1
_MEASURING_SEEDS = 4
_FIRST_SEED = 1000
"""Far from those that the explanation runs with."""
_COLUMNS = (
    "case", "causes", "right", "told", "enough", "base_mbps", "remedy_gain_mbps", "best_gain_mbps",
    "remedy", "best",
)  # fmt: skip
_ENOUGH = 0.9
"""Part of the best change's gain that the remedy has to gain."""


@dataclass(frozen=True)
class Judged:
    """A case, its explanation, and what the remedy and the best change of the list gain."""

    case: Case
    told: Explanation
    base: Trial
    remedy: Trial | None
    """The first that was told; null where none was."""
    best: Trial | None
    """Null where the case is best as it is."""

    @property
    def is_right(self) -> bool:
        """Whether the first cause is one of the case, or none was told of a healthy one."""
        if not self.case.causes or not self.told.causes:
            return not self.case.causes and not self.told.causes
        return self.names[0] in self.case.causes

    @property
    def has_all(self) -> bool:
        """Whether each cause of the case was told."""
        return set(self.case.causes) <= set(self.names)

    @property
    def names(self) -> Sequence[tuple[str, str | None]]:
        """The causes that were told."""
        return [(cause.name, cause.path) for cause in self.told.causes]

    @property
    def is_enough(self) -> bool:
        """Whether the remedy gains enough; where nothing gains what counts, whether it is none."""
        mean = self.base.mean_mbps(of_others=False)
        if self.best is None or not all(
            counts(gain, mean) for gain in _gains(self.best, self.base)
        ):
            return self.remedy is None or self.gain_mbps(self.remedy) >= -NOTICEABLE * mean
        return self.gain_mbps(self.remedy) >= _ENOUGH * self.gain_mbps(self.best)

    def gain_mbps(self, trial: Trial | None) -> float:
        """Gained by a change without what is taken from other flows; nothing by none."""
        return 0.0 if trial is None else _gain_mbps(trial, self.base)

    @property
    def row(self) -> Sequence[object]:
        """The cells of its line."""
        changes = [
            "" if one is None or one.change is None else json.dumps(dict(one.change.values))
            for one in (self.remedy, self.best)
        ]
        gains = [f"{self.gain_mbps(one):.3f}" for one in (self.remedy, self.best)]
        told = self.case.name, _words(self.case.causes), self.is_right, _words(self.names)
        return (*told, self.is_enough, f"{self.base.goodput.mean:.3f}", *gains, *changes)


def measure(effort: Effort) -> list[Figure]:
    """Shares of the cases, of the seed that `effort.repeat` is."""
    begun = time.perf_counter()
    path = Path(f"out/explain-{effort.repeat}.csv")
    path.parent.mkdir(exist_ok=True)
    found = []
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(_COLUMNS)
        for case in cases(effort.repeat, effort.sized(_ROUNDS * KINDS, 2)):
            found.append(judged(case))
            rows.writerow(found[-1].row)
            file.flush()
    took_s = time.perf_counter() - begun
    ill = [one for one in found if one.case.causes]
    pairs = [one for one in ill if len(one.case.causes) > 1]
    told = sum(len(one.names) for one in found if not one.case.causes)
    figures = [
        figure("first cause right", "of 1", [_share(one.is_right for one in ill)], low=0.95),
        figure("causes told of healthy ones", "", [told], high=0),
        figure(
            "remedy gains 90 % of the best change", "of 1",
            [_share(one.is_enough for one in found)], low=0.95,
        ),
        figure("cases", "", [len(found)]),
        figure("time for all", "s", [took_s]),
    ]  # fmt: skip
    if pairs:
        both = _share(one.has_all for one in pairs)
        figures.insert(1, figure("both causes of a pair told", "of 1", [both]))
    return figures


def judged(case: Case) -> Judged:
    """Runs a case, explains it, and holds its remedy against the list."""
    scenario = loads(case.text, case.name)
    with tempfile.TemporaryDirectory() as folder:
        recording = run(scenario, "mptcp", Path(folder) / "run", seed=1, engine="sim")
        told = explain_recording(recording, scenario)
    remedy = told.remedies[0].change if told.remedies else None
    trials = Trials(scenario, "mptcp", _FIRST_SEED + _CHOOSING_SEEDS)
    places = [None if one is None else trials.add(one) for one in (remedy, _best(case, scenario))]
    trials.reach(dict.fromkeys((0, *(one for one in places if one is not None)), _MEASURING_SEEDS))
    tried = [None if place is None else trials[place] for place in places]
    return Judged(case, told, trials[0], *tried)


def _best(case: Case, scenario: Scenario) -> Change | None:
    """The change of the list that carries most by the first seeds; null where it stays best."""
    trials = Trials(scenario, "mptcp", _FIRST_SEED)
    made = [trials.add(Change(values, ())) for values in every_change(json.loads(case.text))]
    places = [0, *(place for place in made if place is not None)]
    trials.reach(dict.fromkeys(places, _CHOOSING_SEEDS))
    return trials[max(places, key=lambda place: _gain_mbps(trials[place], trials[0]))].change


def _gains(trial: Trial, base: Trial) -> tuple[Estimate, Estimate]:
    """Of MPTCP, and of all flows together."""
    return trial.gain_over(base), trial.gain_of_all_over(base)


def _gain_mbps(trial: Trial, base: Trial) -> float:
    return min(gain.mean or 0.0 for gain in _gains(trial, base))


def _share(of: Iterable[bool]) -> float:
    return fmean(of)


def _words(causes: Sequence[tuple[str, str | None]]) -> str:
    return " ".join(name if path is None else f"{name}:{path}" for name, path in causes)
