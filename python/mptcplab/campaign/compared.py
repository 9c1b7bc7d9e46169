"""Two sweeps side by side, and several over each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from mptcplab.campaign import figures
from mptcplab.campaign.column import column_of, rows_of
from mptcplab.campaign.plots import axis_of, finish, line, panels
from mptcplab.campaign.result import Sweep
from mptcplab.metrics.statistics import CONFIDENCE, student_t
from mptcplab.report.canvas import LOOK
from mptcplab.report.palette import styles
from mptcplab.scenario.sweep import overrides_of, point
from mptcplab.scenario.units import comparable

Interval = tuple[float | None, float | None, float | None]
"""A figure, and the ends of its 95 % interval."""


def shared(first: Sweep, second: Sweep, metric: str) -> pl.DataFrame:
    """A row a point and variant that both have: both means, the difference, 95 % intervals.

    Columns: the values, `variant`, `first`, `second`, `difference`, each of these with `_low` and
    `_high`, and `paired`: whether the interval of the difference is that of the differences of
    runs with one seed. Else it is after Welch.

    Raises:
        KeyError: neither has this metric.

    """
    key = ["values", "nth", "variant"]
    one, other = (_by_values(sweep, metric) for sweep in (first, second))
    both = one.join(other, on=key, suffix="_second", maintain_order="left").join(
        _pairs(first, second, metric, one, other), on=key, how="left", maintain_order="left"
    )
    rows = []
    for row in both.iter_rows(named=True):
        is_paired = row["pairs"] is not None and row["pairs"] > 1
        difference = _paired(row) if is_paired else _difference(row)
        told = {
            "first": _interval(row, ""),
            "second": _interval(row, "_second"),
            "difference": difference,
        }
        cells = {
            f"{name}{end}": value
            for name, own in told.items()
            for end, value in zip(("", "_low", "_high"), own, strict=True)
        }
        rows.append(
            {**first.cells(row["point"]), "variant": row["variant"], **cells, "paired": is_paired}
        )
    columns = [f"{n}{e}" for n in ("first", "second", "difference") for e in ("", "_low", "_high")]
    return pl.DataFrame(
        rows, schema_overrides=dict.fromkeys(columns, pl.Float64), infer_schema_length=None
    )


def over_each_other(
    sweeps: Mapping[str, Sweep], metric: str, key: str, width_inches: float | None
) -> Figure:
    """Curves over the axis of `key`: a panel a variant, a line a sweep; others at their first."""
    every = list(sweeps.values())
    names = [name for name in every[0].variants if all(name in one.variants for one in every)]
    spellings = [value for one in every for value in column_of(one.axes[key])]
    by_value = {comparable(value): value for value in reversed(spellings)}
    values = list(dict.fromkeys(by_value[comparable(value)] for value in spellings))
    with mpl.rc_context(LOOK):
        figure, drawn = panels(len(names), width_inches)
        for axes, name in zip(drawn, names, strict=False):
            axes.set_title(name, fontsize=8)
            at = dict(zip(map(comparable, values), axis_of(axes, values, key), strict=True))
            places = {value: at[comparable(value)] for value in spellings}
            for label, style in styles(sweeps).items():
                part = sweeps[label].frame(metric).filter(variant=name)
                own = next(axis for axis in sweeps[label].every_axis if key in axis.keys)
                for axis in sweeps[label].every_axis:
                    if axis is not own:
                        first = zip(axis.keys, rows_of(axis)[0], strict=True)
                        part = part.filter(pl.col(one) == value for one, value in first)
                line(axes, part, metric, places, label, style)
        finish(figure, drawn, metric)
    return figure


def _by_values(sweep: Sweep, metric: str) -> pl.DataFrame:
    """The estimates of a metric; `values` is the same text for equal values of a point."""
    made = sweep.estimates(metric)
    words = {
        number: repr(
            sorted(
                (path, comparable(value))
                for path, value in overrides_of(point(sweep.every_axis, number)).items()
            )
        )
        for number in made["point"].unique()
    }
    values = [words[number] for number in made["point"]]
    # Draws may give several points the same values: the first of one sweep is beside the first of
    # the other.
    return made.with_columns(values=pl.Series(values, dtype=pl.String)).with_columns(
        nth=pl.col("point").rank("dense").over("values", "variant")
    )


def _pairs(
    first: Sweep, second: Sweep, metric: str, one: pl.DataFrame, other: pl.DataFrame
) -> pl.DataFrame:
    """By values and variant: the differences of runs with one seed, where every run has a partner.

    Their number, mean and standard deviation: `pairs`, `apart`, `deviation`. Runs that are one
    run, again and again, are no pairs.
    """
    key = ["values", "nth", "variant"]
    if any(sweep.campaign.result.engine != "sim" for sweep in (first, second)):
        # Beside what the seed decides there is other chance, and fewer degrees of freedom cost.
        one = one.clear()
    samples = [
        figures.samples(sweep.store, metric).join(
            made.filter(pl.col("low").is_not_null()).select(
                "point", "variant", "known", "values", "nth"
            ),
            on=["point", "variant"],
        )
        for sweep, made in ((first, one), (second, other))
    ]
    by_seed = samples[0].join(samples[1], on=[*key, "seed"], suffix="_second")
    apart = pl.col("value_second") - pl.col("value")
    return (
        by_seed.group_by(key)
        .agg(
            pairs=pl.len(),
            apart=apart.mean(),
            deviation=apart.std(),
            known=pl.col("known").first(),
            known_second=pl.col("known_second").first(),
        )
        .filter(pl.col("pairs") == pl.col("known"), pl.col("pairs") == pl.col("known_second"))
        .select(*key, "pairs", "apart", "deviation")
    )


def _interval(row: Mapping[str, Any], end: str) -> Interval:
    return row[f"mean{end}"], row[f"low{end}"], row[f"high{end}"]


def _paired(row: Mapping[str, Any]) -> Interval:
    """The mean of the differences of pairs, by Student's t."""
    mean, pairs = row["apart"], row["pairs"]
    half = student_t(1 - (1 - CONFIDENCE) / 2, pairs - 1) * row["deviation"] / pairs**0.5
    return mean, mean - half, mean + half


def _difference(row: Mapping[str, Any]) -> Interval:
    """The difference of the means, after Welch."""
    if row["mean"] is None or row["mean_second"] is None:
        return None, None, None
    difference = row["mean_second"] - row["mean"]
    spreads = [_of_mean(row, end) for end in ("", "_second")]
    known = [one for one in spreads if one is not None]
    spread = sum(one[0] for one in known)
    if len(known) < 2:
        return difference, None, None
    if spread == 0:
        return difference, difference, difference
    freedom = spread**2 / sum(variance**2 / free for variance, free in known)
    half = student_t(1 - (1 - CONFIDENCE) / 2, max(1, int(freedom))) * spread**0.5
    return difference, difference - half, difference + half


def _of_mean(row: Mapping[str, Any], end: str) -> tuple[float, int] | None:
    """Variance of the mean, and its degrees of freedom; null without an interval."""
    if row[f"low{end}"] is None:
        return None
    freedom = row[f"known{end}"] - 1
    half = (row[f"high{end}"] - row[f"low{end}"]) / 2
    error: float = half / student_t(1 - (1 - CONFIDENCE) / 2, freedom)
    return error**2, freedom
