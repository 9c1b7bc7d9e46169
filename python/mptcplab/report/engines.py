"""The same scenario on two engines, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from mptcplab.metrics import Estimate
from mptcplab.report.model import Report
from mptcplab.report.numbers import number


@dataclass(frozen=True)
class Row:
    """A metric of a variant on both engines."""

    variant: str
    metric: str
    first: Estimate | None
    second: Estimate | None

    @property
    def difference(self) -> float | None:
        """(second − first) / first, of the means; null where one is unknown or the first is 0."""
        first = None if self.first is None else self.first.mean
        second = None if self.second is None else self.second.mean
        if first is None or second is None or first == 0:
            return None
        return (second - first) / first


@dataclass(frozen=True)
class SideBySide:
    """Two reports of one scenario, by different engines."""

    first: Report
    second: Report

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return self.first.description.scenario.name

    @property
    def engines(self) -> tuple[str, str]:
        """Names of the engines, in order."""
        return self.first.description.engine, self.second.description.engine

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every metric of every variant that both were to run."""
        others = {variant.name: variant for variant in self.second.variants}
        return tuple(
            Row(mine.name, metric, mine.metrics.get(metric), others[mine.name].metrics.get(metric))
            for mine in self.first.variants
            if mine.name in others
            for metric in _names(mine.metrics, others[mine.name].metrics)
        )

    @property
    def told(self) -> tuple[Row, ...]:
        """The rows that are worth a place in a table: those of the reports' columns."""
        columns = {*self.first.columns, *self.second.columns}
        return tuple(row for row in self.rows if row.metric in columns)

    @property
    def sentence(self) -> str:
        """How far the goodputs are apart, in words."""
        apart = [
            abs(row.difference)
            for row in self.rows
            if row.metric == "goodput" and row.difference is not None
        ]
        first, second = self.engines
        if not apart:
            compared = f"There is no goodput by which {second} and {first} could be compared."
        else:
            compared = (
                f"The goodput of {second} differs from that of {first} by "
                f"{number(100 * median(apart))} % in the median of the variants, by "
                f"{number(100 * max(apart))} % at most."
            )
        return " ".join([compared, *self._alone()])

    def _alone(self) -> Iterator[str]:
        """Variants that only one engine was to run, in words."""
        for one, other in ((self.first, self.second), (self.second, self.first)):
            known = {variant.name for variant in other.variants}
            names = [variant.name for variant in one.variants if variant.name not in known]
            if names:
                yield f"Of {one.description.engine} alone: {', '.join(names)}."


def side_by_side(reports: Sequence[Report]) -> list[SideBySide]:
    """The pairs among the reports: each with an earlier one of its scenario by another engine.

    A scenario with other settings is another one.
    """
    earlier: dict[tuple[str, str], Report] = {}
    pairs = []
    for one in reports:
        scenario = one.description.scenario
        first = earlier.setdefault((scenario.name, scenario.text), one)
        if first.description.engine != one.description.engine:
            pairs.append(SideBySide(first, one))
    return pairs


def _names(first: Mapping[str, Estimate], second: Mapping[str, Estimate]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))
