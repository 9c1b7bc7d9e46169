"""How the clock of one capture goes by that of the other, from packets in both directions.

A packet that leaves at `x` by the first clock and comes at `x + y` by the second tells
`y = offset + drift·x + delay`; one in the other direction `y = offset + drift·x − delay`. No delay
is negative, so the clocks' line lies between the two clouds of points: below all of one, above all
of the other. The drift is the slope that brings lines below (or above) the clouds as near as
possible to their points on average (Moon, Skelly, Towsley, INFOCOM 1999), found on convex hulls
(Zhang, Liu, Xia, INFOCOM 2002). One slope serves all clouds; each counts the more, the closer its
points lie to its own line, since a full queue hides the clock. The offset is then known to the
width of the gap between the two clouds of a subflow. Where in it the line lies cannot be told from
packets: it is put into the middle of the narrowest gap, as if the least delays of both directions
of that subflow were equal.
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
    """What the second clock is ahead at `zero_ns`."""
    drift: float
    """How much faster the second clock goes, as a part of 1."""
    offset_uncertainty_ns: float
    """The true offset is no further away than this: half of the least round trip that is left."""
    drift_uncertainty: float
    """The true drift is no further away than this."""


def estimate(clouds: Sequence[Cloud]) -> Clock | None:
    """The second clock by the first; null where no subflow has packets in both directions."""
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
    span = max(float(side.x[-1] - side.x[0]) for pair in sides for side in pair)
    drift, drift_uncertainty = _drift(sides) if span >= SHORTEST_NS else (0.0, STEEPEST)
    highs = np.array([forward.least(drift) for forward, _ in sides])
    lows = np.array([-backward.least(drift) for _, backward in sides])
    narrowest = int((highs - lows).argmin())
    middle = float(highs[narrowest] + lows[narrowest]) / 2
    low, high = float(lows.max()), float(highs.min())
    if low <= high:
        middle = min(max(middle, low), high)
    return Clock(
        zero_ns=zero,
        offset_ns=base + round(middle),
        drift=drift,
        offset_uncertainty_ns=max(high - middle, middle - low, 0.0),
        drift_uncertainty=drift_uncertainty,
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
    weight: float

    def least(self, drift: float) -> float:
        """Height of the lowest point above a line of this drift through 0."""
        return float((self.y - self.sign * drift * self.x).min())

    def excess(self, drift: float) -> float:
        """Mean height of all points above the highest line of this drift below them."""
        return self.mean_y - self.sign * drift * self.mean_x - self.least(drift)


def _side(x_ns: Times, y_ns: Times, sign: float) -> _Side:
    x, y = x_ns.astype(np.float64), y_ns.astype(np.float64)
    hull_x, hull_y = _hull(x_ns, y_ns)
    side = _Side(sign, hull_x, hull_y, float(x.mean()), float(y.mean()), 1.0)
    own = _lowest_point(side.excess)
    spread = float(np.median(y - sign * own * x)) - side.least(own)
    return replace(side, weight=1 / max(spread, NEAREST_NS) ** 2)


Hull = tuple[Numbers, Numbers]


def _hull(x_ns: Times, y_ns: Times) -> Hull:
    """The lower convex hull, left to right."""
    x, y = _lowest(x_ns.astype(np.float64), y_ns.astype(np.float64))
    kept: list[int] = []
    for place in range(x.size):
        while len(kept) > 1 and _turns_right(x, y, kept[-2], kept[-1], place):
            kept.pop()
        kept.append(place)
    return x[kept], y[kept]


def _lowest(x: Numbers, y: Numbers) -> Hull:
    """The lowest point of each part of the time, in order."""
    width = max(float(x.max() - x.min()), 1.0) / BINS
    part = ((x - x.min()) // width).astype(np.int64)
    order = np.lexsort((y, part))
    first = np.flatnonzero(np.diff(part[order], prepend=-1))
    chosen = order[first]
    chosen = chosen[np.argsort(x[chosen], kind="stable")]
    return x[chosen], y[chosen]


def _turns_right(x: Numbers, y: Numbers, a: int, b: int, c: int) -> bool:
    return bool((x[b] - x[a]) * (y[c] - y[a]) <= (y[b] - y[a]) * (x[c] - x[a]))


def _drift(sides: Sequence[tuple[_Side, _Side]]) -> tuple[float, float]:
    """The drift that fits all clouds best, and how far another one could be from it."""
    every = [side for pair in sides for side in pair]
    best = _lowest_point(lambda drift: sum(side.weight * side.excess(drift) for side in every))

    def possible(drift: float) -> bool:
        """Whether a line of this slope fits between the clouds."""
        least = min(forward.least(drift) for forward, _ in sides)
        most = max(-backward.least(drift) for _, backward in sides)
        return least >= most

    return round(best, FINEST), max(_reach(best, sign, possible) for sign in (-1.0, 1.0))


def _lowest_point(height: Callable[[float], float]) -> float:
    """Where a convex function of the drift is lowest."""
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
    """How far from the best slope another one is still possible."""
    near, far = 0.0, STEEPEST
    if possible(best + sign * far):
        return far
    for _ in range(60):
        middle = (near + far) / 2
        if possible(best + sign * middle):
            near = middle
        else:
            far = middle
    return far
