"""Charts of a page as data: what is drawn by the page's script, and once more without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
TIME = "time"
"""Group of the charts over the time of a page: they are zoomed together."""


class Kind(StrEnum):
    """How the points of a series are drawn."""

    LINE = "line"
    STEPS = "steps"
    """Each value holds until the next one."""
    POINTS = "points"
    MEANS = "means"
    """Each value is the mean since the place before: bins of any width can be made of them."""


@dataclass(frozen=True)
class Series:
    """Values over places; a gap is NaN."""

    label: str
    colour: str
    x: Numbers
    y: Numbers
    kind: Kind = Kind.LINE
    dashes: tuple[int, ...] = ()
    """Lengths of strokes and gaps in pixels; empty: solid."""
    since: float = 0.0
    """Where the first interval of means begins."""
    half: Numbers | None = None
    """Half of an interval around each value."""
    frames: npt.NDArray[np.int64] | None = None
    """Number of each point's frame in the capture."""


@dataclass(frozen=True)
class Mark:
    """Something that happened."""

    time_s: float
    label: str
    target: str = ""
    """Identifier of the element of the page that tells of it."""


@dataclass(frozen=True)
class Panel:
    """Series over the same axes."""

    title: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Axis:
    """An axis, for all panels of a chart."""

    title: str
    unit: str = ""
    logarithmic: bool = False
    from_zero: bool = True
    limits: tuple[float, float] | None = None
    """Its ends; null: those of the values."""
    names: tuple[tuple[float, str], ...] = ()
    """Names of places, in the place of figures."""
    is_date: bool = False
    """Its values are seconds since 1970, shown as dates and times (UTC)."""

    @property
    def words(self) -> str:
        """Title and unit."""
        return f"{self.title} in {self.unit}" if self.unit else self.title


@dataclass(frozen=True)
class Chart:
    """Panels of the same axes, one below the other."""

    x: Axis
    y: Axis
    panels: tuple[Panel, ...]
    group: str = ""
    """Charts of the same group have the same range of x; empty: alone."""

    def range(self, axis: str) -> tuple[float, float]:
        """The ends of an axis, `x` or `y`, over the values of all panels."""
        own: Axis = getattr(self, axis)
        if own.limits is not None:
            return own.limits
        known = [_finite(one, axis) for panel in self.panels for one in panel.series]
        return ends([one for one in known if one.size], own, room=0.06 if axis == "y" else 0.0)


@dataclass(frozen=True)
class NamedChart:
    """A chart of a page, with the words above and below it."""

    id: str
    """Identifier in the page."""
    title: str
    note: str
    chart: Chart


def distribution(values: Numbers) -> tuple[Numbers, Numbers]:
    """The values in their order, and the part of them up to each, for steps: from 0 up to 1."""
    ordered = np.sort(values)
    return np.concatenate((ordered[:1], ordered)), np.arange(ordered.size + 1) / ordered.size


def _finite(series: Series, axis: str) -> Numbers:
    values: Numbers = getattr(series, axis)
    if axis == "y" and series.half is not None:
        values = np.concatenate((values, values - series.half, values + series.half))
    return values[np.isfinite(values)]


def ends(known: Sequence[Numbers], axis: Axis, room: float = 0.03) -> tuple[float, float]:
    """The ends of an axis for these values: from 0 where it begins there, never of no length.

    Beyond the values is room, a share of the whole.
    """
    if not known:
        return 0.0, 1.0
    low = min(float(one.min()) for one in known)
    high = max(float(one.max()) for one in known)
    if axis.logarithmic and low > 0:
        return low / 1.15, high * 1.15
    if axis.from_zero and low >= 0:
        return 0.0, (1 + room) * high if high > 0 else 1.0
    beyond = room * (high - low) if high > low else 0.5
    return low - beyond, high + beyond
