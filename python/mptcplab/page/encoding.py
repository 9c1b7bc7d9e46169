"""Charts as the JSON that a page's script reads: whole numbers, and of places the differences."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mptcplab.page.charts import Chart, Kind, Numbers, Series
from mptcplab.page.thinning import AS_THEY_ARE, extremes, means, pieces

PAGE_POINTS = 400_000
"""Points of a page, at most 3 MB: with more series than 20 each has its part of them."""
DIGITS = 5
"""Of the largest value."""
COMPRESSED_FROM = 100_000
"""Characters of JSON from which on a page holds them compressed."""

Drawn = Mapping[str, Chart]
"""Charts by their identifiers in the page."""


def told_charts(charts: Drawn) -> list[dict[str, Any]]:
    """The charts as data that JSON can hold."""
    series = sum(len(panel.series) for chart in charts.values() for panel in chart.panels)
    most = min(AS_THEY_ARE, PAGE_POINTS // max(series, 1))
    return [_chart(name, chart, most) for name, chart in charts.items()]


def page_data(value: object) -> tuple[str, bool]:
    """A value as text for a page's `script` element of data, and whether it is compressed."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    if len(text) < COMPRESSED_FROM:
        # No text ends the element, or begins a comment within it.
        return text.replace("<", "\\u003c"), False
    return base64.b64encode(zlib.compress(text.encode())).decode(), True


def _chart(name: str, chart: Chart, most: int) -> dict[str, Any]:
    return {
        "id": name,
        "group": chart.group or name,
        "x": _axis(chart, "x"),
        "y": _axis(chart, "y"),
        "panels": [
            {
                "title": panel.title,
                "series": [_series(one, most) for one in panel.series],
                "marks": [[mark.time_s, mark.label, mark.target] for mark in panel.marks],
            }
            for panel in chart.panels
        ],
    }


def _axis(chart: Chart, which: str) -> dict[str, Any]:
    axis = getattr(chart, which)
    return {
        "title": axis.title,
        "unit": axis.unit,
        "log": axis.logarithmic,
        "zero": axis.from_zero,
        "fixed": axis.limits is not None,
        "range": list(chart.range(which)),
        "names": list(axis.names),
        "dates": axis.is_date,
    }


def _series(series: Series, most: int) -> dict[str, Any]:
    units = _unit(series.x, 2 * DIGITS - 1), _unit(series.y, DIGITS)
    return {
        "label": series.label,
        "colour": series.colour,
        "dashes": series.dashes,
        "kind": series.kind,
        "since": series.since,
        "units": units,
        "pieces": [list(one) for one in _pieces(series, most, units)],
    }


def _pieces(
    series: Series, most: int, units: tuple[float, float]
) -> Iterator[tuple[list[int] | None, ...]]:
    """Of each part without a gap places, values, halves of intervals, and frames."""
    share = most / max(len(series.x), 1)
    for part in pieces(series.x, series.y):
        x, y = series.x[part], series.y[part]
        room = max(4, int(share * len(x)))
        if series.kind is Kind.MEANS and len(x) > room:
            x, y = means(series.since, x, y, room)
            yield _differences(x, units[0]), _whole(y, units[1]), None, None
            continue
        kept = extremes(y, room)
        half = None if series.half is None else _whole(series.half[part][kept], units[1])
        frames = None if series.frames is None else series.frames[part][kept].tolist()
        yield _differences(x[kept], units[0]), _whole(y[kept], units[1]), half, frames


def _unit(values: Numbers, digits: int) -> float:
    """A power of ten of which the largest value has so many digits."""
    known = np.abs(values[np.isfinite(values)])
    most = float(known.max()) if known.size else 0.0
    return float(10.0 ** (math.floor(math.log10(most)) + 1 - digits)) if most > 0 else 1.0


def _whole(values: Numbers, unit: float) -> list[int]:
    return [int(value) for value in np.rint(values / unit).tolist()]


def _differences(values: Numbers, unit: float) -> list[int]:
    return [int(value) for value in np.diff(np.rint(values / unit), prepend=0).tolist()]
