"""How a path is used again after its link has returned.

By the counters of the clients' interfaces; of a link further away by those of the link itself, as
an interface does not tell what goes over it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mptcplab.metrics.plan_view import Change, PlanView
from mptcplab.metrics.recovery import BEFORE_NS, WINDOW_NS
from mptcplab.metrics.rows import Row, grouped, known
from mptcplab.metrics.statistics import worst
from mptcplab.recording import Recording

PATH_USE = 0.5
"""A path is in use again at this part of its mean rate before its failure."""
LEAST_USE = 0.01
"""A path was in use before its failure if it carried more than this part of its client's bytes; a
link that is at no client, of those of all clients."""

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counter:
    """Bytes that an interface or a link had carried, both ways, at some times."""

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
    transfers: Sequence[Row], recording: Recording, plan: PlanView
) -> dict[str, float | None]:
    """``recovery_s.<path>`` of a recording, by the clients' interfaces and the links.

    Each is the worst over all returns and clients; null if one of them is. A figure is missing
    where nothing came back, or where the path was not in use before its failure.
    """
    changes = plan.changes
    starts_ns = known(transfers, "start_ns")
    if not starts_ns or not any(change.up for change in changes):
        return {}
    counters = _counters({row["client"] for row in transfers}, recording)
    links = _link_counters(recording)
    by_path: dict[str, list[float | None]] = {}
    for back in (change for change in changes if change.up):
        failure = _failure_before(back, changes)
        if failure is None:
            continue
        since_ns = max(
            min(starts_ns),
            failure.at_ns - BEFORE_NS,
            *(
                change.at_ns
                for change in changes
                if change.at_ns < failure.at_ns
                and not change.interfaces.isdisjoint(back.interfaces)
            ),
        )
        if since_ns >= failure.at_ns:
            continue
        for names, path, beside in _returned(back, counters, links):
            rate = path.rate(since_ns, failure.at_ns)
            if rate > LEAST_USE * sum(one.rate(since_ns, failure.at_ns) for one in beside):
                recovery = path_recovery_s(path, rate, back.at_ns)
                for name in names:
                    by_path.setdefault(f"recovery_s.{name}", []).append(recovery)
    return {name: worst(values) for name, values in by_path.items()}


def _returned(
    back: Change, counters: Mapping[tuple[str, str], Counter], links: Mapping[str, Counter]
) -> Iterator[tuple[set[str], Counter, list[Counter]]]:
    """Paths that are back: names, counter, and the counters that their use is measured against."""
    at_clients = sorted(back.interfaces & counters.keys())
    for node, interface in at_clients:
        own = [counter for (of, _), counter in counters.items() if of == node]
        yield {interface, back.link or interface}, counters[node, interface], own
    link = back.link
    is_interface = any(link == interface for _, interface in counters)
    if link is not None and link in links and not at_clients and not is_interface:
        yield {link}, links[link], list(counters.values())


def _counters(nodes: set[str], recording: Recording) -> dict[tuple[str, str], Counter]:
    """The counters of the nodes' interfaces that are known at two times at least."""
    columns = ("node", "interface", "t_ns", "rx_bytes", "tx_bytes")
    samples = [
        row
        for row in recording.rows("interface_samples", columns)
        if row["node"] in nodes and row["rx_bytes"] is not None and row["tx_bytes"] is not None
    ]
    return {
        (node, interface): _counter(
            [(row["t_ns"], row["rx_bytes"] + row["tx_bytes"]) for row in own]
        )
        for (node, interface), own in grouped(samples, "node", "interface").items()
        if len(own) > 1
    }


def _link_counters(recording: Recording) -> dict[str, Counter]:
    """The counters of the links that are known at two times at least, both ways."""
    known_at: dict[str, list[tuple[int, int]]] = {}
    samples = recording.rows("link_samples", ("link", "t_ns", "delivered_bytes"))
    for (link, t_ns), ways in grouped(samples, "link", "t_ns").items():
        delivered = known(ways, "delivered_bytes")
        if len(delivered) == len(ways):
            known_at.setdefault(link, []).append((t_ns, sum(delivered)))
    return {link: _counter(own) for link, own in known_at.items() if len(own) > 1}


def _counter(samples: Sequence[tuple[int, int]]) -> Counter:
    both = np.array(sorted(samples), dtype=np.int64)
    return Counter(both[:, 0], both[:, 1])


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
