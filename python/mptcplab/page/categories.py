"""Bars and boxes by category: rows of SVG as wide as the page, and their figures as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from mptcplab.page.charts import Axis, ends
from mptcplab.page.drawing import even_ticks, logarithmic_ticks

WHISKER = 1.5
"""Of the distance of the quartiles, within which a whisker ends (Tukey, 1977)."""
_LABELLED = 0.06
"""Least share of the width for a label within a bar."""


@dataclass(frozen=True)
class Part:
    """A part of a bar, or a bar."""

    name: str
    colour: str
    start: float
    end: float
    words: str
    half: float = 0.0
    """Half of an interval around the end."""


@dataclass(frozen=True)
class Box:
    """Quartiles, whiskers and outliers of samples, by Tukey: Exploratory Data Analysis, 1977."""

    quartiles: tuple[float, float, float]
    whiskers: tuple[float, float]
    outliers: tuple[float, ...]


def box_of(values: Sequence[float]) -> Box:
    """The box of some values, one or more."""
    known = np.sort(np.array(values, dtype=np.float64))
    low, middle, high = (float(one) for one in np.quantile(known, (0.25, 0.5, 0.75)))
    reach = WHISKER * (high - low)
    inner = known[(known >= low - reach) & (known <= high + reach)]
    outer = known[(known < low - reach) | (known > high + reach)]
    return Box((low, middle, high), (float(inner[0]), float(inner[-1])), tuple(outer.tolist()))


def bar_rows(rows: Mapping[str, Sequence[Sequence[Part]]], axis: Axis) -> str:
    """A row for each name, of bars below each other, each of parts; behind them a table."""
    every = [part for row in rows.values() for bar in row for part in bar]
    values = [end for part in every for end in (part.start, part.end, part.end + part.half)]
    scale = _Scale(axis, [np.array([*values, 0.0])])
    stacked = any(len(bar) > 1 for row in rows.values() for bar in row)
    told = (
        _row(name, "".join(_bars(row, scale, stacked=stacked)), len(row))
        for name, row in rows.items()
    )
    figures: list[tuple[str, ...]] = [
        (name, part.name, _shown(part.end - part.start), _shown(part.half) if part.half else "")
        for name, row in rows.items()
        for bar in row
        for part in bar
    ]
    head: tuple[str, ...] = ("", "part", axis.words, "±")
    if not any(half for *_, half in figures):
        head, figures = head[:-1], [row[:-1] for row in figures]
    behind = _behind(head, 2, figures)
    return f'<div class="rows">{"".join(told)}{_axis(scale)}</div>{behind}'


def box_rows(rows: Mapping[str, Box], axis: Axis) -> str:
    """A row with a box for each name; behind them a table."""
    known = [np.array([*box.whiskers, *box.outliers]) for box in rows.values()]
    scale = _Scale(axis, known)
    told = (_row(name, "".join(_box(box, scale)), 1) for name, box in rows.items())
    figures = [
        (name, *map(_shown, _five(box)), str(len(box.outliers))) for name, box in rows.items()
    ]
    behind = _behind((axis.words, *_FIVE, "beyond"), 1, figures)
    return f'<div class="rows">{"".join(told)}{_axis(scale)}</div>{behind}'


_FIVE = ("lower whisker", "lower quartile", "median", "upper quartile", "upper whisker")


def _five(box: Box) -> tuple[float, ...]:
    return (box.whiskers[0], *box.quartiles, box.whiskers[1])


def _shown(value: float) -> str:
    return f"{value:.4g}"


def _behind(head: Sequence[str], words: int, rows: Sequence[Sequence[str]]) -> str:
    """A table for those who cannot see the drawing; so many columns are words, then figures."""
    css = ["" if place < words else ' class="figure"' for place in range(len(head))]
    heads = "".join(f"<th{c}>{escape(name)}</th>" for c, name in zip(css, head, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{c}>{escape(cell)}</td>' for c, cell in zip(css, row, strict=True))}"
        "</tr>"
        for row in rows
    )
    return (
        '<details class="behind"><summary>Figures of the chart</summary>'
        '<div class="wide" tabindex="0" role="group" aria-label="Figures of the chart">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


class _Scale:
    """Per cent of the width of values along an axis."""

    def __init__(self, axis: Axis, known: Sequence[np.ndarray[tuple[int], np.dtype[np.float64]]]):
        self.axis = axis
        self.low, self.high = axis.limits or ends(known, axis)

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        if self.axis.logarithmic and low > 0:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        return 100 * (value - low) / (high - low)

    def ticks(self) -> list[float]:
        if self.axis.logarithmic and self.low > 0:
            return logarithmic_ticks(self.low, self.high)
        return even_ticks(self.low, self.high, 5)


_HEIGHT = 20


def _row(name: str, content: str, bars: int) -> str:
    height = 4 + (_HEIGHT if bars == 1 else 16 * bars)
    return (
        f'<div class="name">{escape(name)}</div>'
        f'<svg class="drawn" height="{height}" role="img" aria-label="{escape(name)}">'
        f"{content}</svg>"
    )


def _axis(scale: _Scale) -> str:
    ticks = "".join(
        f'<text x="{scale.place(value):.2f}%" y="14" '
        f'class="{_side(scale.place(value))}">{value:g}</text>'
        for value in scale.ticks()
    )
    words = escape(scale.axis.words)
    return (
        f'<div class="name"></div><svg class="drawn" height="34" aria-hidden="true">'
        f'<line class="tick" x1="0" x2="100%" y1="1" y2="1"/>{ticks}'
        f'<text x="50%" y="30" class="x">{words}</text></svg>'
    )


def _side(place: float) -> str:
    return "start" if place < 3 else "y" if place > 97 else "x"


def _bars(row: Sequence[Sequence[Part]], scale: _Scale, *, stacked: bool) -> Iterator[str]:
    for place, bar in enumerate(row):
        for part in bar:
            yield from _part(part, scale, 2 + 16 * place, stacked=stacked)


def _part(part: Part, scale: _Scale, top: int, *, stacked: bool) -> Iterator[str]:
    start, end = sorted((scale.place(part.start), scale.place(part.end)))
    height = 18 if stacked else 14
    yield (
        f'<rect class="part" x="{start:.2f}%" y="{top}" width="{end - start:.2f}%" '
        f'height="{height}" fill="{escape(part.colour)}">'
        f"<title>{escape(f'{part.name}: {part.words}')}</title></rect>"
    )
    middle = top + height / 2
    if part.half:
        low, high = (scale.place(part.end + side * part.half) for side in (-1, 1))
        yield f'<line class="tick" x1="{low:.2f}%" x2="{high:.2f}%" y1="{middle}" y2="{middle}"/>'
    words = f'y="{middle + 4}">{escape(part.words)}</text>'
    if not stacked:
        at = end if end > 60 else scale.place(part.end + part.half)
        side, shift = ("y", -4) if end > 60 else ("start", 4)
        yield f'<text class="{side} inner" dx="{shift}" x="{at:.2f}%" {words}'
    elif end - start >= 100 * _LABELLED:
        yield f'<text class="x inner" x="{(start + end) / 2:.2f}%" {words}'


def _box(box: Box, scale: _Scale) -> Iterator[str]:
    low, middle, high = map(scale.place, box.quartiles)
    ends_of = tuple(map(scale.place, box.whiskers))
    words = (
        f"median {box.quartiles[1]:.4g}, quartiles {box.quartiles[0]:.4g} and "
        f"{box.quartiles[2]:.4g}, whiskers {box.whiskers[0]:.4g} and {box.whiskers[1]:.4g}"
    )
    yield f"<g><title>{words} {escape(scale.axis.unit)}</title>"
    for start, end in ((ends_of[0], low), (high, ends_of[1])):
        yield f'<line class="tick" x1="{start:.2f}%" x2="{end:.2f}%" y1="12" y2="12"/>'
    for end in ends_of:
        yield f'<line class="tick" x1="{end:.2f}%" x2="{end:.2f}%" y1="8" y2="16"/>'
    yield (
        f'<rect class="box" x="{low:.2f}%" y="4" width="{max(high - low, 0.2):.2f}%" height="16"/>'
        f'<line class="median" x1="{middle:.2f}%" x2="{middle:.2f}%" y1="4" y2="20"/></g>'
    )
    # Of those that would lie on each other one is drawn.
    for place, value in {f"{scale.place(value):.1f}": value for value in box.outliers}.items():
        yield (
            f'<circle class="box" cx="{place}%" cy="12" r="2.5">'
            f"<title>{value:.4g} {escape(scale.axis.unit)}</title></circle>"
        )
