"""Figures of a result, without the recordings that they were measured from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import pstdev, stdev

from mptcplab.metrics import Estimate, VariantMetrics
from mptcplab.metrics.statistics import estimate
from mptcplab.reproduction.model import Measured, Statistic
from mptcplab.scenario.expectation import Expression, Name, names_in, parse_expression, value_of

Samples = Mapping[int, float | None]
"""By repetition."""


@dataclass(frozen=True)
class VariantFigures:
    """The metrics of a variant, and of which repetitions."""

    repetitions: tuple[int, ...]
    metrics: Mapping[str, Estimate]
    are_one_run: bool

    def samples(self, metric: str) -> Samples:
        """The metric of each repetition that was measured."""
        found = self.metrics.get(metric)
        values = found.samples if found is not None else (None,) * len(self.repetitions)
        return dict(zip(self.repetitions, values, strict=True))


Figures = Mapping[str, VariantFigures]
"""By variant: those that were measured."""


def figures(variants: list[VariantMetrics]) -> Figures:
    """The figures of those variants that have recordings."""
    return {
        one.name: VariantFigures(
            tuple(run.repetition for run in one.runs), one.metrics, one.are_one_run
        )
        for one in variants
        if one.runs
    }


def figure_of(cell: Measured, found: Figures) -> Estimate | None:
    """Our figure for a cell; null where one that it is made of was not measured."""
    expression = parse_expression(cell.here)
    names = list(names_in(expression))
    if any(name.variant not in found for name in names):
        return None
    if cell.repetition is not None:
        return _estimate(_by_repetition(expression, found).get(cell.repetition))
    if cell.statistic is not Statistic.MEAN:
        values = _by_repetition(expression, found).values()
        return _estimate(_deviation(cell.statistic, [one for one in values if one is not None]))
    if isinstance(expression, Name):
        known = found[expression.variant].metrics.get(expression.metric)
        return known if known is not None else Estimate((), None, None)
    same = all(found[name.variant].are_one_run for name in names)
    return estimate(list(_by_repetition(expression, found).values()), are_one_run=same)


def _by_repetition(expression: Expression, found: Figures) -> Samples:
    """The expression of each repetition that all its variants have."""
    names = list(names_in(expression))
    samples = {(name.variant, name.metric): _samples(name, found) for name in names}
    common = set.intersection(*(set(one) for one in samples.values())) if samples else set()
    return {
        repetition: value_of(expression, lambda v, m, at=repetition: samples[v, m][at])  # type: ignore[misc]
        for repetition in sorted(common)
    }


def _samples(name: Name, found: Figures) -> Samples:
    return found[name.variant].samples(name.metric)


def _deviation(statistic: Statistic, values: list[float]) -> float | None:
    if len(values) < 2:
        return None
    return pstdev(values) if statistic is Statistic.POPULATION_DEVIATION else stdev(values)


def _estimate(value: float | None) -> Estimate:
    return Estimate((value,), value, None)
