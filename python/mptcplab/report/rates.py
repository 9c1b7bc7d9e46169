"""Rates from counters that were sampled."""

import numpy as np
import numpy.typing as npt

from mptcplab.report.canvas import Numbers

MOST_POINTS = 240
"""Points of a line; more cannot be told apart in print and make the page large."""


def rates(
    times_ns: npt.NDArray[np.int64], counter: npt.NDArray[np.int64]
) -> tuple[Numbers, Numbers]:
    """Mbit/s between samples, over as many samples at a time as keep to the points of a line.

    A rest shorter than half an interval belongs to the last interval: over the millisecond between
    the last sample of the grid and the end of a run, one packet is a rate that no link has.
    """
    ends = _ends(times_ns)
    times, values = times_ns[ends], counter[ends]
    seconds = np.diff(times) / 1e9
    carried = np.maximum(np.diff(values), 0)
    return times[1:] / 1e9, carried * 8 / 1e6 / np.maximum(seconds, 1e-9)


def _ends(times_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Places of the samples between which rates are taken: the first and the last are among them.

    An interval is as long as the median one.
    """
    if len(times_ns) < 2:
        return np.arange(len(times_ns))
    step = max(1, len(times_ns) // MOST_POINTS)
    ends = np.arange(0, len(times_ns), step)
    last = len(times_ns) - 1
    if ends[-1] != last:
        ends = np.append(ends, last)
    lengths = np.diff(times_ns[ends])
    is_short = len(ends) > 2 and lengths[-1] < np.median(lengths[:-1]) / 2
    return np.delete(ends, -2) if is_short else ends
