"""Two results side by side: every metric of the variants that both have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import stdev
from typing import TYPE_CHECKING

from mptcplab.metrics import Estimate, VariantMetrics
from mptcplab.metrics.statistics import CONFIDENCE, estimate, student_t
from mptcplab.recording import Result
from mptcplab.report import Report, report
from mptcplab.report.numbers import estimate_shown, heading
from mptcplab.report.settings import labels, unlike

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Compared:
    """A metric of a variant in both results."""

    variant: str
    metric: str
    first: Estimate | None
    second: Estimate | None
    has_pairs: bool = False
    """Both have the same seeds, in the same order, in virtual time: chance is the same to both."""

    @property
    def difference(self) -> float | None:
        """Second mean minus first mean; null where one is unknown."""
        if self.first is None or self.second is None:
            return None
        if self.first.mean is None or self.second.mean is None:
            return None
        return self.second.mean - self.first.mean

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95 % confidence interval of the difference; null where one mean has none.

        Of the differences of pairs where the runs are `paired`, else after Welch.
        """
        difference = self.difference
        if difference is None or self.first is None or self.second is None:
            return None
        if self.first.ci95 is None or self.second.ci95 is None:
            return None
        if self.paired is not None:
            return self.paired.ci95
        one, other = _of_mean(self.first), _of_mean(self.second)
        spread = one[0] + other[0]
        if spread == 0:
            return difference, difference
        freedom = spread**2 / (one[0] ** 2 / one[1] + other[0] ** 2 / other[1])
        half = student_t(1 - (1 - CONFIDENCE) / 2, max(1, int(freedom))) * sqrt(spread)
        return difference - half, difference + half

    @cached_property
    def paired(self) -> Estimate | None:
        """The differences of runs with one seed; null where one has no partner, or no figure."""
        if not self.has_pairs or self.first is None or self.second is None:
            return None
        both = zip(self.first.samples, self.second.samples, strict=True)
        known = [(one, other) for one, other in both if one is not None and other is not None]
        if len(known) < len(self.first.samples):
            return None
        return estimate([other - one for one, other in known])

    @property
    def apart(self) -> Estimate | None:
        """The difference with its interval; it has no samples of its own."""
        difference = self.difference
        return None if difference is None else Estimate((difference,), difference, self.ci95)


class Comparison:
    """Two results side by side, with intervals; `compare` makes it."""

    def __init__(self, first: Result, second: Result) -> None:
        self.results = (first, second)

    @cached_property
    def labels(self) -> tuple[str, str]:
        """Names that tell the results apart."""
        first, second = labels(self._reports)
        return first, second

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Differences of the second result from the first, in words."""
        return unlike(self._reports)[1][1]

    @cached_property
    def rows(self) -> tuple[Compared, ...]:
        """Every metric of every variant that both have."""
        first, second = self._reports
        others = {variant.name: variant for variant in second.variants}
        both = [(mine, others[mine.name]) for mine in first.variants if mine.name in others]
        return tuple(
            Compared(
                mine.name,
                metric,
                mine.metrics.get(metric),
                other.metrics.get(metric),
                _chance(mine) is not None and _chance(mine) == _chance(other),
            )
            for mine, other in both
            for metric in dict.fromkeys([*mine.metrics, *other.metrics])
        )

    @property
    def told(self) -> tuple[Compared, ...]:
        """The rows of the metrics that the reports have a column for."""
        columns = {metric for one in self._reports for metric in one.columns}
        return tuple(row for row in self.rows if row.metric in columns)

    def frame(self) -> pl.DataFrame:
        """One row a metric of a variant: both means, the difference, and their intervals."""
        import polars as pl

        schema = {"variant": pl.String, "metric": pl.String} | dict.fromkeys(_FIGURES, pl.Float64)
        return pl.DataFrame(list(map(_as_row, self.rows)), schema=schema, orient="row")

    @cached_property
    def _reports(self) -> tuple[Report, Report]:
        first, second = (report(result) for result in self.results)
        return first, second

    def __repr__(self) -> str:
        return f"<Comparison of {' and '.join(self.labels)}>"

    def _repr_html_(self) -> str:
        from mptcplab.report.notebook import paragraph, table

        rows = [
            [
                row.variant,
                " in ".join(part for part in heading(row.metric) if part),
                estimate_shown(row.metric, row.first),
                estimate_shown(row.metric, row.second),
                estimate_shown(row.metric, row.apart),
            ]
            for row in self.told
        ]
        unlike = "; ".join(self.settings)
        pairs = pairing([row.paired is not None for row in self.told if row.ci95 is not None])
        words = f"means ± half the 95 % confidence interval, where there is one{pairs}"
        head = ["variant", "metric", *self.labels, "difference"]
        told = paragraph(f"{self.labels[1]} has {unlike}.") if unlike else ""
        return f"{told}{paragraph(words)}{table(head, rows)}"


def compare(result: Result, other: Result) -> Comparison:
    """Puts two results side by side: the same scenario changed, or on another engine.

    Raises:
        ValueError: they have no variant in common.

    """
    if not set(result) & set(other):
        raise ValueError(
            f"no variant is in both results: {', '.join(result)}, and {', '.join(other)}"
        )
    return Comparison(result, other)


def _chance(variant: VariantMetrics) -> list[int] | None:
    """The seeds of its runs; null where they do not decide on all that is left to chance."""
    told = [run.recording.manifest for run in variant.runs]
    return [one.seed for one in told] if all(one.engine == "sim" for one in told) else None


def pairing(are_paired: Sequence[bool]) -> str:
    """How the intervals of differences came about; empty where none is over pairs."""
    count = sum(are_paired)
    if not count:
        return ""
    which = "" if count == len(are_paired) else f"; in {count} of the {len(are_paired)} rows"
    return f"; that of a difference is over pairs of runs with one seed{which}"


_FIGURES = [
    f"{which}{end}" for which in ("first", "second", "difference") for end in ("", "_low", "_high")
]


def _as_row(row: Compared) -> list[str | float | None]:
    return [row.variant, row.metric, *_figures(row)]


def _figures(row: Compared) -> Iterator[float | None]:
    for one in (row.first, row.second):
        yield None if one is None else one.mean
        yield from (None, None) if one is None or one.ci95 is None else one.ci95
    yield row.difference
    yield from row.ci95 or (None, None)


def _of_mean(of: Estimate) -> tuple[float, int]:
    """Variance of the mean, and its degrees of freedom."""
    known = [sample for sample in of.samples if sample is not None]
    return stdev(known) ** 2 / len(known), len(known) - 1
