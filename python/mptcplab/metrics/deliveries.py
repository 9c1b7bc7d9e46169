"""Deliveries to receivers over time, by the bins of the table ``deliveries``."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mptcplab.metrics.rows import Row
from mptcplab.recording import Recording

BIN_NS = 10_000_000
"""Width of a bin."""

Key = tuple[str, str, int]
"""Flow, way and index of a transfer."""
Bins = Mapping[Key, Sequence[tuple[int, int]]]
"""By transfer: start and payload of each of its bins."""
Times = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def key_of(transfer: Row) -> Key:
    """The transfer as its bins name it."""
    return transfer["traffic"], transfer["way"], transfer["index"]


def delivery_bins(recording: Recording) -> Bins:
    """The bins of a recording."""
    found: dict[Key, list[tuple[int, int]]] = {}
    for row in recording.rows("deliveries", ("traffic", "way", "index", "t_ns", "bytes")):
        found.setdefault(key_of(row), []).append((row["t_ns"], row["bytes"]))
    return found


def summed(bins: Bins, transfers: Iterable[Row]) -> tuple[Times, Times]:
    """Starts of the bins in which some of these transfers got something, ascending, and payload."""
    sums: dict[int, int] = {}
    for transfer in transfers:
        for start_ns, payload in bins.get(key_of(transfer), ()):
            sums[start_ns] = sums.get(start_ns, 0) + payload
    ordered = sorted(sums.items())
    both = np.array(ordered, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def delivered_until(bins: Bins, transfers: Iterable[Row], times_ns: Numbers) -> Numbers:
    """Payload that these transfers had delivered at each of the times, a divided bin in part."""
    bins_ns, payloads = summed(bins, transfers)
    if not bins_ns.size:
        return np.zeros(len(times_ns))
    starts = bins_ns.astype(np.float64)
    sums = np.concatenate(([0.0], np.cumsum(payloads)))
    # A bin's payload comes between its start and its end; between bins nothing does.
    times = np.column_stack((starts, starts + BIN_NS)).ravel()
    payload = np.column_stack((sums[:-1], sums[1:])).ravel()
    carried: Numbers = np.interp(times_ns, times, payload)
    return carried
