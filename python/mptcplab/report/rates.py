"""Rates from counters that were sampled."""

import numpy as np
import numpy.typing as npt

from mptcplab.page.charts import Numbers
from mptcplab.page.thinning import AS_THEY_ARE, interval_ends


def rates(
    times_ns: npt.NDArray[np.int64], counter: npt.NDArray[np.int64], most: int = AS_THEY_ARE
) -> tuple[Numbers, Numbers]:
    """Mbit/s between samples, over as many samples at a time as keep to so many points.

    A rest shorter than half an interval belongs to the last interval: over the millisecond between
    the last sample of the grid and the end of a run, one packet is a rate that no link has.
    """
    ends = interval_ends(times_ns, most)
    times, values = times_ns[ends], counter[ends]
    seconds = np.diff(times) / 1e9
    carried = np.maximum(np.diff(values), 0)
    return times[1:] / 1e9, carried * 8 / 1e6 / np.maximum(seconds, 1e-9)
