"""A panel of a chart as SVG: for print, and where no script runs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from html import escape

import numpy as np

from mptcplab.page.charts import Axis, Chart, Kind, Numbers, Panel, Series
from mptcplab.page.thinning import extremes, means, pieces

WIDTH, HEIGHT = 800.0, 170.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 8.0, 6.0, 34.0
MOST_POINTS = 240
"""Of a line; more cannot be told apart in print and make the page large."""
MOST_DOTS = 1500
TICKS = {"x": 8, "y": 4}


def panel_svg(chart: Chart, panel: Panel) -> str:
    """The panel with its axes, in the colours of the page."""
    scales = _Scale(chart.x, chart.range("x"), "x"), _Scale(chart.y, chart.range("y"), "y")
    name = escape(f"{panel.title} {chart.y.words} over {chart.x.words}".strip())
    parts = [
        f'<svg class="drawn" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{name}">',
        *_grid(chart, *scales),
        *(part for series in panel.series for part in _series(series, *scales)),
        *(part for mark in panel.marks for part in _mark(mark.time_s, mark.label, scales[0])),
        "</svg>",
    ]
    return "".join(parts)


class _Scale:
    """Pixels of values along an axis."""

    def __init__(self, axis: Axis, span: tuple[float, float], which: str) -> None:
        self.axis = axis
        self.span = span
        self.which = which

    def pixels(self, values: Numbers) -> Numbers:
        low, high = self.span
        if self.axis.logarithmic and low > 0:
            low, high = math.log(low), math.log(high)
            values = np.log(np.maximum(values, 1e-12))
        share = (values - low) / (high - low or 1.0)
        if self.which == "x":
            return LEFT + share * (WIDTH - LEFT - RIGHT)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def pixel(self, value: float) -> float:
        return float(self.pixels(np.array([value]))[0])

    def ticks(self) -> list[tuple[float, str]]:
        if self.axis.names:
            return list(self.axis.names)
        if self.axis.is_date:
            return date_ticks(*self.span, TICKS[self.which])
        if self.axis.logarithmic and self.span[0] > 0:
            return [(value, f"{value:g}") for value in logarithmic_ticks(*self.span)]
        return [(value, f"{value:g}") for value in even_ticks(*self.span, TICKS[self.which])]


def even_ticks(low: float, high: float, most: int) -> list[float]:
    """Round values between two, about so many: 1, 2, 2.5 or 5 times a power of ten."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    every = (times * power for times in (1, 2, 2.5, 5, 10))
    step = next(one for one in every if one >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.10g}") for place in range(first, last + 1)]


_DATE_STEPS_S = (60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800)


def date_ticks(low_s: float, high_s: float, most: int) -> list[tuple[float, str]]:
    """Round times between two, at most so many: by the day or the time of day (UTC)."""
    rough = (high_s - low_s) / most
    step = next((one for one in _DATE_STEPS_S if one >= rough), 0)
    if not step:
        step = _DATE_STEPS_S[-1] * math.ceil(rough / _DATE_STEPS_S[-1])
    places = range(math.ceil(low_s / step), math.floor(high_s / step) + 1)
    return [(float(place * step), _date_name(place * step)) for place in places]


def _date_name(at_s: int) -> str:
    return time.strftime("%H:%M" if at_s % 86_400 else "%m-%d", time.gmtime(at_s))


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two values, or the powers where they are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    times = (1, 2, 5) if len(powers) < 5 else (1,)
    every = (factor * 10.0**power for power in powers for factor in times)
    return [value for value in every if low <= value <= high]


def _grid(chart: Chart, x: _Scale, y: _Scale) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for value, name in y.ticks():
        place = y.pixel(value)
        yield f'<path class="grid" d="M{LEFT:g} {place:.1f}H{WIDTH - RIGHT:g}"/>'
        yield f'<text x="{LEFT - 6:g}" y="{place + 4:.1f}" class="y">{escape(name)}</text>'
    for value, name in x.ticks():
        place = x.pixel(value)
        yield f'<path class="tick" d="M{place:.1f} {bottom:g}v4"/>'
        yield f'<text x="{place:.1f}" y="{bottom + 16:g}" class="x">{escape(name)}</text>'
    yield f'<path class="tick" d="M{LEFT:g} {TOP:g}V{bottom:g}H{WIDTH - RIGHT:g}"/>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle:g}" y="{HEIGHT - 4:g}" class="x">{escape(chart.x.words)}</text>'
    yield (
        f'<text class="x" transform="translate(12 {HEIGHT / 2:g}) rotate(-90)">'
        f"{escape(chart.y.words)}</text>"
    )


def _series(series: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    colour = f'"{escape(series.colour)}"'
    if series.kind is Kind.POINTS:
        known = np.isfinite(series.x) & np.isfinite(series.y)
        places = _apart(np.column_stack((x.pixels(series.x[known]), y.pixels(series.y[known]))))
        dots = "".join(f"M{across:g} {up:g}h0" for across, up in places)
        yield f'<path class="dots" stroke={colour} d="{dots}"/>'
        return
    dashes = f' stroke-dasharray="{" ".join(map(str, series.dashes))}"' if series.dashes else ""
    steps = "".join(_line(series, part, x, y) for part in pieces(series.x, series.y))
    if steps:
        yield f'<path class="line" stroke={colour}{dashes} d="{steps}"/>'
    if series.half is not None:
        yield f'<path class="line" stroke={colour} d="{_whiskers(series, series.half, x, y)}"/>'


def _apart(places: Numbers) -> list[list[float]]:
    """One dot for each cell that has some, of cells so large that there are not too many."""
    size = 1.0
    while True:
        found = np.unique(np.rint(places / size), axis=0) * size
        if len(found) <= MOST_DOTS:
            return [list(map(float, place)) for place in found]
        size *= 1.5


def _line(series: Series, part: slice, x: _Scale, y: _Scale) -> str:
    own_x, own_y = series.x[part], series.y[part]
    if series.kind is Kind.MEANS:
        own_x, own_y = means(series.since, own_x, own_y, MOST_POINTS)
    kept = extremes(own_y, MOST_POINTS)
    across, up = x.pixels(own_x[kept]), y.pixels(own_y[kept])
    joint = "H{0:.1f}V{1:.1f}" if series.kind is Kind.STEPS else "L{0:.1f} {1:.1f}"
    rest = "".join(joint.format(*pair) for pair in zip(across[1:], up[1:], strict=True))
    return f"M{across[0]:.1f} {up[0]:.1f}{rest or 'h0'}"


def _whiskers(series: Series, half: Numbers, x: _Scale, y: _Scale) -> str:
    known = np.isfinite(series.y) & np.isfinite(half) & (half > 0)
    across = x.pixels(series.x[known])
    low, high = (y.pixels(series.y[known] + side * half[known]) for side in (-1, 1))
    rows = zip(across, low, high, strict=True)
    return "".join(f"M{a - 3:.1f} {b:.1f}h6m-3 0V{c:.1f}m-3 0h6" for a, b, c in rows)


def _mark(time_s: float, label: str, x: _Scale) -> Iterator[str]:
    place = x.pixel(time_s)
    yield f'<path class="mark" d="M{place:.1f} {TOP:g}V{HEIGHT - BOTTOM:g}"/>'
    yield (
        f'<text class="mark" transform="translate({place + 3:.1f} {TOP + 2:g}) rotate(90)">'
        f"{escape(label)}</text>"
    )
