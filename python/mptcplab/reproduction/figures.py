"""Figures of a result, without the recordings that they were measured from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import pstdev, stdev

from mptcplab.metrics import Estimate, VariantMetrics
from mptcplab.metrics.comparison import Run
from mptcplab.metrics.statistics import estimate
from mptcplab.recording import Status
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
    are_simulated: bool
    warnings: tuple[str, ...] = ()
    """Of the runs, such as that the machine was too slow for them."""

    def samples(self, metric: str) -> Samples:
        """The metric of each repetition that was measured."""
        found = self.metrics.get(metric)
        values = found.samples if found is not None else (None,) * len(self.repetitions)
        return dict(zip(self.repetitions, values, strict=True))


Figures = Mapping[str, VariantFigures]
"""By variant: those that were measured."""


def figures(variants: list[VariantMetrics]) -> Figures:
    """The figures of those variants that have whole recordings."""
    return {
        one.name: VariantFigures(
            tuple(run.repetition for run in one.runs),
            one.metrics,
            one.are_one_run,
            one.are_simulated,
            tuple(_warnings(one.runs)),
        )
        for one in variants
        if one.runs and all(run.recording.manifest.status is Status.COMPLETE for run in one.runs)
    }


def _warnings(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        for warning in run.recording.manifest.warnings:
            yield f"repetition {run.repetition}: {warning}"


def figure_of(cell: Measured, found: Figures) -> Estimate | None:
    """Our figure for a cell; null where the runs that it is made of are not there.

    One that none of these runs has is a figure without samples that are known: a transfer that
    never ended, a subflow that never came.
    """
    expression = parse_expression(cell.here)
    names = list(names_in(expression))
    if any(name.variant not in found for name in names):
        return None
    if isinstance(expression, Name) and cell.statistic is Statistic.MEAN and not cell.repetition:
        own = found[expression.variant]
        return own.metrics.get(expression.metric) or estimate([None] * len(own.repetitions))
    values = _by_repetition(expression, found)
    if cell.repetition is not None:
        return estimate([values[cell.repetition]]) if cell.repetition in values else None
    if cell.statistic is not Statistic.MEAN:
        return _deviation(cell.statistic, list(values.values()))
    same = all(found[name.variant].are_one_run for name in names)
    return estimate(list(values.values()), are_one_run=same)


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


def _deviation(statistic: Statistic, values: list[float | None]) -> Estimate | None:
    """The deviation of the values that are known; null of fewer than two repetitions."""
    if len(values) < 2:
        return None
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return estimate([None])
    deviation = pstdev if statistic is Statistic.POPULATION_DEVIATION else stdev
    return estimate([deviation(known)])
