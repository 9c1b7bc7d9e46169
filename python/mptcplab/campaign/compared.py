"""Two sweeps side by side, and several over each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from mptcplab.campaign.plots import axis_of, finish, line, panels
from mptcplab.campaign.result import Sweep
from mptcplab.metrics.statistics import CONFIDENCE, student_t
from mptcplab.report.canvas import LOOK
from mptcplab.report.palette import styles
from mptcplab.scenario.sweep import point


def shared(first: Sweep, second: Sweep, metric: str) -> pl.DataFrame:
    """A row a point and variant that both have: both means, the difference, 95 % intervals.

    That of the difference is after Welch. Columns: the values, `variant`, `first`, `second`,
    `difference`, each of these with `_low` and `_high`.

    Raises:
        KeyError: neither has this metric.

    """
    key = ["values", "variant"]
    one, other = (_by_values(sweep, metric) for sweep in (first, second))
    both = one.join(other, on=key, suffix="_second", maintain_order="left")
    rows = []
    for row in both.iter_rows(named=True):
        values = point(first.every_axis, row["point"])
        ends = _difference(row)
        told = {"first": _interval(row, ""), "second": _interval(row, "_second"), **ends}
        figures = {
            f"{name}{end}": value
            for name, own in told.items()
            for end, value in zip(("", "_low", "_high"), own, strict=True)
        }
        rows.append({**values, "variant": row["variant"], **figures})
    figures_of = [
        f"{n}{e}" for n in ("first", "second", "difference") for e in ("", "_low", "_high")
    ]
    return pl.DataFrame(
        rows, schema_overrides=dict.fromkeys(figures_of, pl.Float64), infer_schema_length=None
    )


def over_each_other(
    sweeps: Mapping[str, Sweep], metric: str, key: str, width_inches: float | None
) -> Figure:
    """Curves over the axis of `key`: a panel a variant, a line a sweep; others at their first."""
    every = list(sweeps.values())
    names = [name for name in every[0].variants if all(name in one.variants for one in every)]
    values = list(dict.fromkeys(value for one in every for value in one.axes[key]))
    with mpl.rc_context(LOOK):
        figure, drawn = panels(len(names), width_inches)
        for axes, name in zip(drawn, names, strict=False):
            axes.set_title(name, fontsize=8)
            places = dict(zip(map(repr, values), axis_of(axes, values, key), strict=True))
            for label, style in styles(sweeps).items():
                part = sweeps[label].frame(metric).filter(variant=name)
                own = next(axis for axis in sweeps[label].every_axis if key in axis.keys)
                for axis in sweeps[label].every_axis:
                    if axis is not own:
                        part = part.filter(pl.col(axis.keys[0]) == axis.rows[0][0])
                line(axes, part, metric, places, label, style)
        finish(figure, drawn, metric)
    return figure


def _by_values(sweep: Sweep, metric: str) -> pl.DataFrame:
    made = sweep.estimates(metric)
    values = [repr(sorted(point(sweep.every_axis, n).items())) for n in made["point"]]
    return made.with_columns(values=pl.Series(values, dtype=pl.String))


def _interval(row: Mapping[str, Any], end: str) -> tuple[float | None, float | None, float | None]:
    return row[f"mean{end}"], row[f"low{end}"], row[f"high{end}"]


def _difference(row: Mapping[str, Any]) -> dict[str, tuple[float | None, ...]]:
    if row["mean"] is None or row["mean_second"] is None:
        return {"difference": (None, None, None)}
    difference = row["mean_second"] - row["mean"]
    spreads = [_of_mean(row, end) for end in ("", "_second")]
    known = [one for one in spreads if one is not None]
    spread = sum(one[0] for one in known)
    if len(known) < 2:
        return {"difference": (difference, None, None)}
    if spread == 0:
        return {"difference": (difference, difference, difference)}
    freedom = spread**2 / sum(variance**2 / free for variance, free in known)
    half = student_t(1 - (1 - CONFIDENCE) / 2, max(1, int(freedom))) * spread**0.5
    return {"difference": (difference, difference - half, difference + half)}


def _of_mean(row: Mapping[str, Any], end: str) -> tuple[float, int] | None:
    """Variance of the mean, and its degrees of freedom; null without an interval."""
    if row[f"low{end}"] is None:
        return None
    freedom = row[f"known{end}"] - 1
    half = (row[f"high{end}"] - row[f"low{end}"]) / 2
    error: float = half / student_t(1 - (1 - CONFIDENCE) / 2, freedom)
    return error**2, freedom
