"""Fewer points that look the same: extremes are kept, and means stay what they are over time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mptcplab.page.charts import Numbers

AS_THEY_ARE = 20_000
"""Points of a series that a page holds; of more it holds the extremes of parts."""


def extremes(y: Numbers, most: int) -> npt.NDArray[np.intp]:
    """Places of at most so many points: the first, the last, and of each part the extremes.

    Parts are as many points each, so that a drawing narrower than half of `most` in pixels is that
    of all points.
    """
    if len(y) <= most or most < 4:
        return np.arange(len(y)) if len(y) <= most else np.array([0, len(y) - 1])
    edges = np.linspace(0, len(y), (most - 2) // 2 + 1).astype(np.intp)
    found = [0, len(y) - 1]
    for start, end in pairwise(edges):
        part = y[start:end]
        found += [start + int(part.argmin()), start + int(part.argmax())]
    return np.unique(np.array(found, dtype=np.intp))


def interval_ends(places: Numbers | npt.NDArray[np.int64], most: int) -> npt.NDArray[np.intp]:
    """Of edges of intervals those of `most` longer ones at most, the first and the last among them.

    A rest shorter than half an interval belongs to the last one: over the millisecond between the
    last sample of a grid and the end of a run, one packet is a rate that no link has.
    """
    if len(places) < 2:
        return np.arange(len(places))
    step = -(-(len(places) - 1) // most)
    found = np.arange(0, len(places), step)
    last = len(places) - 1
    if found[-1] != last:
        found = np.append(found, last)
    lengths = np.diff(places[found])
    is_short = len(found) > 2 and lengths[-1] < np.median(lengths[:-1]) / 2
    return np.delete(found, -2) if is_short else found


def means(since: float, x: Numbers, y: Numbers, most: int) -> tuple[Numbers, Numbers]:
    """At most so many means of longer intervals; each value is the mean since the place before."""
    edges = np.concatenate(([since], x))
    total = np.concatenate(([0.0], np.cumsum(y * np.diff(edges))))
    kept = interval_ends(edges, most)
    lengths = np.maximum(np.diff(edges[kept]), 1e-12)
    return edges[kept][1:], np.diff(total[kept]) / lengths


def pieces(x: Numbers, y: Numbers) -> list[slice]:
    """The parts without a gap."""
    known = np.isfinite(x) & np.isfinite(y)
    turns = np.flatnonzero(np.diff(known.astype(np.int8))) + 1
    edges = [0, *turns.tolist(), len(x)]
    return [slice(start, end) for start, end in pairwise(edges) if end > start and known[start]]
