"""How the clock of one capture goes by that of the other, from packets in both directions.

A packet that leaves at `x` by the first clock and comes at `x + y` by the second tells
`y = offset + drift·x + delay`; one in the other direction `y = offset + drift·x − delay`. No delay
is negative, so the clocks' line lies between the two clouds of points: below all of one, above all
of the other. Convex hulls find the drift (as in Zhang, Liu, Xia, INFOCOM 2002): the slope that
leaves the widest gap between the clouds, summed over the subflows. The offset is then known to the
width of the narrowest gap. Where in it the line lies cannot be told from packets: it is put into
the middle of the narrowest one, as if the least delays of both directions of that subflow were
equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
_ROUNDS = 200


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
    hulls = [
        (
            _hull(cloud.forward_at_ns - zero, cloud.forward_ns - base),
            _hull(cloud.backward_at_ns - zero, base - cloud.backward_ns),
        )
        for cloud in used
    ]
    span = max(float(x[-1] - x[0]) for pair in hulls for x, _ in pair)
    drift, drift_uncertainty = _drift(hulls) if span >= SHORTEST_NS else (0.0, STEEPEST)
    highs = np.array([_least(forward, drift) for forward, _ in hulls])
    lows = np.array([-_least(backward, -drift) for _, backward in hulls])
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


def _least(hull: Hull, slope: float) -> float:
    """Height of the lowest point above a line of this slope through 0."""
    x, y = hull
    return float((y - slope * x).min())


def _drift(hulls: Sequence[tuple[Hull, Hull]]) -> tuple[float, float]:
    """The slope with the widest gaps, and how far another one could be from it."""

    def gap(slope: float) -> float:
        return sum(_least(up, slope) + _least(down, -slope) for up, down in hulls)

    # The gap is concave in the slope: each height is the least of straight lines.
    low, high = -STEEPEST, STEEPEST
    for _ in range(_ROUNDS):
        third = (high - low) / 3
        left, right = gap(low + third), gap(high - third)
        if left <= right:
            low += third
        if left >= right:
            high -= third
    best = (low + high) / 2

    def possible(slope: float) -> bool:
        """Whether a line of this slope fits between the clouds."""
        least = min(_least(up, slope) for up, _ in hulls)
        most = max(-_least(down, -slope) for _, down in hulls)
        return least >= most

    return best, max(_reach(best, sign, possible) for sign in (-1.0, 1.0))


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
