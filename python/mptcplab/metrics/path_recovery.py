"""How a path is used again after its link has returned, by the counters of the interfaces."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from mptcplab.metrics.plan_view import Change, PlanView
from mptcplab.metrics.statistics import worst
from mptcplab.recording import Recording

WINDOW_NS = 1_000_000_000
"""A path has to be in use for this long."""
BEFORE_NS = 5_000_000_000
"""The rate before a failure is taken over this time, or since an earlier change of the path."""
PATH_USE = 0.5
"""A path is in use again at this part of its mean rate before its failure."""
LEAST_USE = 0.01
"""A path was in use before its failure if it carried more than this part of its client's bytes."""

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counter:
    """Bytes that an interface had carried, both ways, at some times."""

    times_ns: Times
    carried: Times

    def between(self, start_ns: int, end_ns: int) -> float:
        """Bytes carried in [start, end], by linear interpolation."""
        at_end, at_start = np.interp([end_ns, start_ns], self.times_ns, self.carried)
        return float(at_end - at_start)

    def rate(self, start_ns: int, end_ns: int) -> float:
        """Mean rate in [start, end], bytes a nanosecond."""
        return self.between(start_ns, end_ns) / (end_ns - start_ns)


def path_recovery_s(path: Counter, rate_before: float, return_ns: int) -> float | None:
    """Time from a link's return to the moment from which on the path is in use again.

    In use: the interface carries at least half of ``rate_before``, its mean rate before its
    failure in bytes a nanosecond, both in the sample interval and in the second that begin then.
    To one sample interval. Null where this does not come before the end of the samples.
    """
    times_ns = path.times_ns
    after = times_ns[times_ns > return_ns].tolist()
    for time, following in pairwise([return_ns, *after]):
        if time + WINDOW_NS > times_ns[-1]:
            return None
        if (
            min(path.rate(time, following), path.rate(time, time + WINDOW_NS))
            >= PATH_USE * rate_before
        ):
            return float(time - return_ns) / 1e9
    return None


def path_recovery_figures(
    transfers: pl.DataFrame, recording: Recording, plan: PlanView
) -> dict[str, float | None]:
    """``recovery_s.<path>`` of a recording, by the clients' interfaces and the links at them.

    A link elsewhere has none: what a client's interface carries does not tell whether it is used.
    Each is the worst over all returns and clients; null if one of them is. A figure is missing
    where nothing came back, or where the path was not in use before its failure.
    """
    changes = plan.changes
    start_ns = transfers["start_ns"].min()
    if not isinstance(start_ns, int):
        return {}
    counters = _counters(set(transfers["client"]), recording)
    by_path: dict[str, list[float | None]] = {}
    for back in (change for change in changes if change.up):
        failure = _failure_before(back, changes)
        if failure is None:
            continue
        since_ns = max(
            start_ns,
            failure.at_ns - BEFORE_NS,
            *(
                change.at_ns
                for change in changes
                if change.at_ns < failure.at_ns
                and not change.interfaces.isdisjoint(back.interfaces)
            ),
        )
        for node, interface in sorted(back.interfaces & counters.keys()):
            rates = {
                name: counter.rate(since_ns, failure.at_ns)
                for (of, name), counter in counters.items()
                if of == node and since_ns < failure.at_ns
            }
            if rates.get(interface, 0.0) <= LEAST_USE * sum(rates.values()):
                continue
            recovery = path_recovery_s(counters[node, interface], rates[interface], back.at_ns)
            for name in {interface, back.link or interface}:
                by_path.setdefault(f"recovery_s.{name}", []).append(recovery)
    return {name: worst(values) for name, values in by_path.items()}


def _counters(nodes: set[str], recording: Recording) -> dict[tuple[str, str], Counter]:
    """The counters of the nodes' interfaces that were sampled at least twice."""
    samples = recording.frame("interface_samples").filter(pl.col("node").is_in(list(nodes)))
    return {
        (str(node), str(interface)): Counter(
            own["t_ns"].to_numpy(), (own["rx_bytes"] + own["tx_bytes"]).to_numpy()
        )
        for (node, interface), own in samples.sort("t_ns").group_by(["node", "interface"])
        if own.height > 1
    }


def _failure_before(back: Change, changes: Sequence[Change]) -> Change | None:
    """The last failure of what is back."""
    earlier = [
        change
        for change in changes
        if change.up is False
        and change.at_ns < back.at_ns
        and not change.interfaces.isdisjoint(back.interfaces)
    ]
    return earlier[-1] if earlier else None
