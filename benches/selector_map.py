"""The map of the grid of policies: the time of ours beside that of the best other, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from .selector_cells import DELAY_RATIOS, GAPS, SIZES, Cell

_ROWS = [*((gap, True) for gap in GAPS[:0:-1]), *((gap, False) for gap in GAPS)]
"""Gap, and whether the reference path is the slow one: from below."""
_LOST, _LOST_MUCH = 1.02, 1.10
_LEAST, _MOST = 0.5, 1.15
_COLOURS = "PuOr_r"
"""Purple is faster and orange slower, which the colour-blind tell apart, too."""


def draw(ratios: Iterable[tuple[Cell, float]], ours: str, path: Path) -> None:
    """Draws the map of times of ours relative to the best other's: a panel for each ratio of the
    delays, above where the reference path has the shorter delay and below where it has the longer
    one."""
    panels: dict[tuple[bool, int], np.ndarray] = {}
    for cell, ratio in ratios:
        key = cell.is_first_late, cell.delay_ratio
        values = panels.setdefault(key, np.full((len(_ROWS), len(SIZES)), np.nan))
        row = _ROWS.index((cell.gap, cell.is_first_slow))
        values[row, SIZES.index(cell.size)] = ratio
    drawing = Figure(figsize=(15, 7.6), layout="constrained")
    axes = drawing.subplots(2, len(DELAY_RATIOS), sharex=True, sharey=True)
    scale = TwoSlopeNorm(1.0, vmin=_LEAST, vmax=_MOST)
    image = None
    for is_late, row in zip((False, True), axes, strict=True):
        for delay_ratio, axis in zip(DELAY_RATIOS, row, strict=True):
            found = panels.get((is_late, delay_ratio))
            if found is None:
                _explain(axis)
                continue
            image = axis.imshow(found, cmap=_COLOURS, norm=scale, origin="lower", aspect="auto")
            _label(axis, is_late, delay_ratio)
            _mark(axis, found)
    drawing.supxlabel("size of the transfer")
    drawing.supylabel("gap of bandwidth")
    if image is not None:
        bar = drawing.colorbar(image, ax=axes, extend="both", shrink=0.8)
        bar.set_label(f"completion time of {ours} ÷ that of the best other policy")
    drawing.savefig(path, dpi=110)


def _label(axis: Axes, is_late: bool, delay_ratio: int) -> None:
    axis.set_title(_title(is_late, delay_ratio), fontsize=10)
    axis.set_xticks(range(len(SIZES)), [_size(size) for size in SIZES], rotation=90)
    rows = [f"{gap:g}{', first slow' if is_slow else ''}" for gap, is_slow in _ROWS]
    axis.set_yticks(range(len(_ROWS)), rows)
    axis.axhline(len(GAPS) - 1.5, color="black", linewidth=0.8)
    axis.tick_params(labelsize=8, labelbottom=True, labelleft=delay_ratio == 1 + is_late)


def _title(is_late: bool, delay_ratio: int) -> str:
    if delay_ratio == 1:
        return "equal delays"
    return f"delay of the {'first' if is_late else 'second'} × {delay_ratio}"


def _mark(axis: Axes, values: np.ndarray) -> None:
    """Marks the cells that are lost."""
    for (row, column), ratio in np.ndenumerate(values):
        if ratio > _LOST:
            text = "×" if ratio > _LOST_MUCH else "•"
            axis.text(column, row, text, ha="center", va="center", fontsize=9)


def _explain(axis: Axes) -> None:
    axis.set_axis_off()
    text = (
        f"• slower by more than {100 * (_LOST - 1):.0f} %\n"
        f"× slower by more than {100 * (_LOST_MUCH - 1):.0f} %\n\n"
        "The first path is the\nreference path; above\nthe line it is the faster\n"
        "one, below the slower."
    )
    axis.text(-0.3, 0.9, text, transform=axis.transAxes, va="top", fontsize=9)


def _size(size: int) -> str:
    return f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"
