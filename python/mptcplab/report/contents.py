"""Contents of plots: data that a page draws as charts, and a file as a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mptcplab.metrics import VariantMetrics
from mptcplab.page.charts import Axis
from mptcplab.report.palette import Style, styles
from mptcplab.report.series import Course, Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Drawing = Callable[[float], "Figure"]
"""A plot, which is drawn as many inches wide as is asked for."""
LEAST_SAMPLES = 5
"""Of fewer values a box says less than the values themselves."""
WIDE = 30
"""Ratio of the largest to the least value from which on an axis is logarithmic."""


@dataclass(frozen=True)
class Courses:
    """One panel a variant over the same time, events marked; over another figure without them."""

    courses: Sequence[Course]
    lines: Callable[[Course], Sequence[Line]]
    y: Axis
    x: Axis
    colours: Mapping[str, Style]

    def __call__(self, width_inches: float) -> Figure:
        """The figure of matplotlib, which is slow to load."""
        from mptcplab.report.plots import draw_courses

        return draw_courses(self, width_inches)


@dataclass(frozen=True)
class Shares:
    """Share of the payload by path, a bar a variant, all clients together."""

    bars: Mapping[str, Mapping[str, float]]
    colours: Mapping[str, Style]

    def __call__(self, width_inches: float) -> Figure:
        """The figure of matplotlib."""
        from mptcplab.report.plots import draw_shares

        return draw_shares(self, width_inches)


@dataclass(frozen=True)
class Distribution:
    """Empirical cumulative distribution, a line a variant; values in order."""

    samples: Mapping[str, Sequence[float]]
    looks: Mapping[str, Style]
    x: Axis

    def __call__(self, width_inches: float) -> Figure:
        """The figure of matplotlib."""
        from mptcplab.report.plots import draw_distribution

        return draw_distribution(self, width_inches)


@dataclass(frozen=True)
class Boxes:
    """A box a variant, by Tukey: quartiles, whiskers, outliers as circles.

    Tukey: Exploratory Data Analysis, 1977.
    """

    samples: Mapping[str, Sequence[float]]
    x: Axis

    def __call__(self, width_inches: float) -> Figure:
        """The figure of matplotlib."""
        from mptcplab.report.plots import draw_boxes

        return draw_boxes(self, width_inches)


Content = Courses | Shares | Distribution | Boxes
TIME = Axis("time", "s")


def courses_over_time(
    courses: Sequence[Course],
    lines: Callable[[Course], Sequence[Line]],
    y: Axis,
    colours: Mapping[str, Style],
    x: Axis = TIME,
) -> Courses | None:
    """One panel a variant that has such lines; null if there is nothing to draw."""
    drawn = [course for course in courses if lines(course)]
    return Courses(drawn, lines, y, x, colours) if drawn else None


def path_utilisation(
    variants: Sequence[VariantMetrics], colours: Mapping[str, Style]
) -> Shares | None:
    """Share of the payload by path, a bar a variant; null if there are no paths."""
    bars = {variant.name: _shares(variant) for variant in variants if variant.paths}
    return Shares(bars, colours) if bars else None


def _shares(variant: VariantMetrics) -> dict[str, float]:
    """Interface to mean share, all clients together."""
    interfaces = dict.fromkeys(path.interface for path in variant.paths)
    shares = {interface: variant.metrics[f"share.{interface}"].mean for interface in interfaces}
    return {interface: share or 0.0 for interface, share in shares.items()}


def distribution(samples: Mapping[str, Sequence[float]], title: str, unit: str) -> Content | None:
    """Empirical cumulative distribution, a line a variant; null if there are no samples."""
    known = {name: sorted(values) for name, values in samples.items() if values}
    return Distribution(known, styles(samples), _axis(known, title, unit)) if known else None


def boxes(samples: Mapping[str, Sequence[float]], title: str, unit: str) -> Boxes | None:
    """A box a variant with at least `LEAST_SAMPLES` values; null if there are none."""
    known = {name: values for name, values in samples.items() if len(values) >= LEAST_SAMPLES}
    return Boxes(known, _axis(known, title, unit)) if known else None


def _axis(samples: Mapping[str, Sequence[float]], title: str, unit: str) -> Axis:
    """From 0, or logarithmic where the values differ by more than `WIDE`."""
    if not samples:
        return Axis(title, unit)
    least, most = min(map(min, samples.values())), max(map(max, samples.values()))
    return Axis(title, unit, logarithmic=least > 0 and most / least > WIDE)
