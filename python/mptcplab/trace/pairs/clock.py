"""How the clock of one capture goes by that of the other, from packets in both directions.

A packet that leaves at `x` by the first clock and comes at `x + y` by the second tells
`y = offset + drift·x + delay`; one in the other direction `y = offset + drift·x − delay`. No delay
is negative, so the clocks' line lies between the two clouds of points, below all of one and above
all of the other, whatever their subflow. All lines that do are possible, and no others: where there
is none, a clock was set, or goes unevenly. Both clouds are reduced to their convex hulls (Zhang,
Liu, Xia, INFOCOM 2002).

The drift is the slope, among those that are possible, that brings lines below (or above) the clouds
of each subflow as near as possible to their points on average (Moon, Skelly, Towsley, INFOCOM
1999); each cloud counts the more, the closer its points lie to its own line, since a full queue
hides the clock. It is taken for 0 unless both directions tell of one by themselves: a clock that
drifts bends both alike, a queue that grows bends them apart (Paxson, SIGMETRICS 1998). The offset
is then known to the width of the gap between the clouds. Where in it the line lies cannot be told
from packets: it is put into the middle of the narrowest gap of a subflow, as if the least delays of
both directions of that subflow were equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Times = npt.NDArray[np.int64]

STEEPEST = 1e-3
"""Largest drift that is looked for: a thousand parts in a million."""
BINS = 4096
"""Of so many parts of the time only the least delay counts, which keeps hulls small."""
SHORTEST_NS = 1_000_000_000
"""Over less time than this the drift is taken for 0."""
NEAREST_NS = 1_000.0
"""Clouds whose points lie closer to their line than this count alike."""
FINEST = 12
"""Decimals of a drift."""
TOLERANCE_NS = 1.0
"""Bound of the error of the arithmetic."""
_ROUNDS = 120


@dataclass(frozen=True)
class Cloud:
    """The packets of one subflow that both captures hold."""

    forward_at_ns: Times
    """Times by the first clock of what went from the first capture to the second."""
    forward_ns: Times
    """Second clock's time less the first one's."""
    backward_at_ns: Times
    """The same for the other direction: times of arrival by the first clock."""
    backward_ns: Times


@dataclass(frozen=True)
class Clock:
    """The second clock by the first: `second = first + offset + drift·(first − zero)`."""

    zero_ns: int
    offset_ns: int
    """Time by which the second clock is ahead at `zero_ns`."""
    drift: float
    """How much faster the second clock goes, as a part of 1."""
    offset_uncertainty_ns: float
    """With this drift the true offset is no further away: half of the least round trip left."""
    drift_uncertainty: float
    """The true drift is no further away than this."""
    drift_apart: float = 0.0
    """Difference of the drifts that the two directions show by themselves; 0 without one."""
    consistent: bool = True
    """A line lies between the clouds. If not, no estimate is right: some delays are negative."""
    same: bool = False
    """Both captures were made by one clock: nothing was estimated."""


SAME = Clock(0, 0, 0.0, 0.0, 0.0, same=True)
"""One clock for both captures."""


def estimate(clouds: Sequence[Cloud]) -> Clock | None:
    """Returns the second clock by the first; null without packets in both directions."""
    used = [cloud for cloud in clouds if cloud.forward_ns.size and cloud.backward_ns.size]
    if not used:
        return None
    zero = min(int(min(c.forward_at_ns.min(), c.backward_at_ns.min())) for c in used)
    base = int(used[0].forward_ns[0])
    sides = [
        (
            _side(cloud.forward_at_ns - zero, cloud.forward_ns - base, 1.0),
            _side(cloud.backward_at_ns - zero, base - cloud.backward_ns, -1.0),
        )
        for cloud in used
    ]
    slopes = _possible(sides)
    drift = _drift(sides, slopes)
    highs = np.array([forward.least(drift.slope) for forward, _ in sides])
    lows = np.array([-backward.least(drift.slope) for _, backward in sides])
    narrowest = int((highs - lows).argmin())
    low, high = float(lows.max()), float(highs.min())
    middle = float(highs[narrowest] + lows[narrowest]) / 2
    middle = min(max(middle, min(low, high)), max(low, high))
    return Clock(
        zero_ns=zero,
        offset_ns=base + round(middle),
        drift=drift.slope,
        offset_uncertainty_ns=max(high - middle, middle - low, TOLERANCE_NS),
        drift_uncertainty=max(slopes.high - drift.slope, drift.slope - slopes.low),
        drift_apart=drift.apart,
        consistent=slopes.any,
    )


@dataclass(frozen=True)
class _Side:
    """One direction of a subflow as points above a line; the clock's slope has this sign in it."""

    sign: float
    x: Numbers
    """The lower convex hull, left to right."""
    y: Numbers
    mean_x: float
    mean_y: float
    points: int
    weight: float

    def least(self, drift: float) -> float:
        """Returns the height of the lowest point above a line of this drift through 0."""
        return float((self.y - self.sign * drift * self.x).min())

    def excess(self, drift: float) -> float:
        """Returns the mean height of all points above the highest line of this drift below them."""
        return self.mean_y - self.sign * drift * self.mean_x - self.least(drift)


def _side(x_ns: Times, y_ns: Times, sign: float) -> _Side:
    x, y = x_ns.astype(np.float64), y_ns.astype(np.float64)
    hull_x, hull_y = _hull(x_ns, y_ns)
    side = _Side(sign, hull_x, hull_y, float(x.mean()), float(y.mean()), x.size, 1.0)
    own = _lowest_point(side.excess)
    spread = float(np.median(y - sign * own * x)) - side.least(own)
    return replace(side, weight=1 / max(spread, NEAREST_NS) ** 2)


Hull = tuple[Numbers, Numbers]


def _hull(x_ns: Times, y_ns: Times) -> Hull:
    """Returns the lower convex hull, left to right.

    That of the lowest points of each part of the time lies nowhere below it: what is above that is
    left out, and the rest is few.
    """
    x, y = x_ns.astype(np.float64), y_ns.astype(np.float64)
    rough_x, rough_y = _chain(*_lowest(x, y))
    kept = y <= np.interp(x, rough_x, rough_y, left=np.inf, right=np.inf)
    x, y = x[kept], y[kept]
    order = np.lexsort((y, x))
    return _chain(x[order], y[order])


def _chain(x: Numbers, y: Numbers) -> Hull:
    """Returns the lower convex hull of points in order."""
    kept: list[int] = []
    for place in range(x.size):
        while len(kept) > 1 and _turns_right(x, y, kept[-2], kept[-1], place):
            kept.pop()
        if not kept or x[kept[-1]] < x[place]:
            kept.append(place)
    return x[kept], y[kept]


def _lowest(x: Numbers, y: Numbers) -> Hull:
    """Returns the lowest point of each part of the time, in order."""
    width = max(float(x.max() - x.min()), 1.0) / BINS
    part = ((x - x.min()) // width).astype(np.int64)
    order = np.lexsort((y, part))
    first = np.flatnonzero(np.diff(part[order], prepend=-1))
    chosen = order[first]
    chosen = chosen[np.argsort(x[chosen], kind="stable")]
    return x[chosen], y[chosen]


def _turns_right(x: Numbers, y: Numbers, a: int, b: int, c: int) -> bool:
    return bool((x[b] - x[a]) * (y[c] - y[a]) <= (y[b] - y[a]) * (x[c] - x[a]))


Sides = Sequence[tuple[_Side, _Side]]


@dataclass(frozen=True)
class _Slopes:
    """The slopes of all lines that lie between the clouds."""

    low: float
    high: float
    any: bool
    """There is such a line; if not, both are that of the least contradiction."""


def _possible(sides: Sides) -> _Slopes:
    def gap(drift: float) -> float:
        """Returns the gap between the clouds for lines of this drift."""
        highs = min(forward.least(drift) for forward, _ in sides)
        return highs + min(backward.least(drift) for _, backward in sides)

    def possible(drift: float) -> bool:
        return gap(drift) >= -TOLERANCE_NS

    widest = 0.0 if possible(0.0) else _lowest_point(lambda drift: -gap(drift))
    if not possible(widest):
        return _Slopes(widest, widest, any=False)
    return _Slopes(
        low=widest - _reach(widest, -1.0, possible),
        high=widest + _reach(widest, 1.0, possible),
        any=True,
    )


@dataclass(frozen=True)
class _Drift:
    slope: float
    apart: float


def _drift(sides: Sides, slopes: _Slopes) -> _Drift:
    """Returns the drift that fits all clouds best; the slope nearest to 0 where none is evident."""
    none = _Drift(min(max(0.0, slopes.low), slopes.high), 0.0)
    every = [side for pair in sides for side in pair]
    begin = min(float(side.x[0]) for side in every)
    span = max(float(side.x[-1]) for side in every) - begin
    if span < SHORTEST_NS or not slopes.any:
        return none
    ways = [[forward for forward, _ in sides], [backward for _, backward in sides]]
    told = [_best(way) for way in ways]
    apart = abs(told[0] - told[1])
    finest = max(_finest(way) for way in ways)
    if abs(sum(told) / 2) <= apart + finest:
        return none
    best = round(_best(every), FINEST)
    # A drift that some clouds show and others do not allow is no clock's.
    return _Drift(best, max(apart, finest)) if slopes.low <= best <= slopes.high else none


def _best(sides: Sequence[_Side]) -> float:
    """Returns the slope that brings lines as near as possible to the points of these."""
    return _lowest_point(lambda drift: sum(side.weight * side.excess(drift) for side in sides))


def _finest(sides: Sequence[_Side]) -> float:
    """Returns the least slope that these can tell from none.

    The least of n delays is above the true one by the n-th part of their mean excess, if they are
    spread as by chance; four times as much over half of the time is looked at.
    """
    found = []
    for side in sides:
        span = float(side.x[-1] - side.x[0])
        own = side.excess(_best([side]))
        found.append((NEAREST_NS + 16 * own / side.points) / span if span else STEEPEST)
    return min(found)


def _lowest_point(height: Callable[[float], float]) -> float:
    """Returns where a convex function of the drift is lowest."""
    low, high = -STEEPEST, STEEPEST
    for _ in range(_ROUNDS):
        third = (high - low) / 3
        left, right = height(low + third), height(high - third)
        if left >= right:
            low += third
        if left <= right:
            high -= third
    return (low + high) / 2


def _reach(best: float, sign: float, possible: Callable[[float], bool]) -> float:
    """Returns how far from a possible slope another one is still possible, within the steepest."""
    near, far = 0.0, STEEPEST - sign * best
    if possible(best + sign * far):
        return far
    for _ in range(60):
        middle = (near + far) / 2
        if possible(best + sign * middle):
            near = middle
        else:
            far = middle
    return near
