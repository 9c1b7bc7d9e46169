"""TCP over all paths at once: the most that paths with common links can carry."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.transfers import NS_PER_S, goodput_mbps, own_transfers, timed_transfers
from mptcplab.recording import Recording

_BIN_NS = 10_000_000
"""Width of a bin of the table `deliveries`."""


@dataclass(frozen=True)
class AtOnce:
    """Figures of a run of TCP over all paths at once."""

    goodput_mbps: float | None
    """Of what has a size: up to the moment at which all paths together had delivered it once."""
    time_s: float | None
    """That moment, from the first start, by transfers that follow one another; null where nothing
    has a size."""


def at_once(recording: Recording, plan: PlanView) -> AtOnce:
    """The figures of a run in which every path carries the same task.

    Every path gets the whole of what has a size, so the last byte says nothing: what counts is when
    the paths together had delivered as many bytes as one of them had to. Between the beginning and
    the end of a bin of the table `deliveries` payload is taken to come evenly.
    """
    transfers = own_transfers(timed_transfers(recording, plan))
    if not transfers["is_sized"].any():
        return AtOnce(goodput_mbps(transfers), None)
    payload = float(transfers["bytes"].sum()) / len(plan.task_by_interface)
    begun, exchanges = transfers["start_ns"].min(), plan.exchanges
    whole = transfers["is_sized"].all() and transfers["error"].is_null().all()
    if not whole or not isinstance(begun, int) or exchanges is None:
        return AtOnce(None, None)
    reached_ns = _reached_ns(recording.frame("deliveries"), transfers, payload)
    if reached_ns is None or reached_ns <= begun:
        return AtOnce(None, None)
    seconds = (reached_ns - begun) / NS_PER_S
    return AtOnce(payload * 8 / seconds / 1e6, seconds / exchanges)


def _reached_ns(
    deliveries: pl.DataFrame, transfers: pl.DataFrame, payload_bytes: float
) -> float | None:
    """When so many bytes had been delivered."""
    changes: list[tuple[float, float]] = []
    for begin_ns, end_ns, size in _spans(deliveries, transfers):
        rate = size / (end_ns - begin_ns)
        changes += [(begin_ns, rate), (end_ns, -rate)]
    delivered, rate, before = 0.0, 0.0, 0.0
    for at_ns, change in sorted(changes):
        step = rate * (at_ns - before)
        if delivered + step >= payload_bytes * (1 - 1e-9):
            return before + (payload_bytes - delivered) / rate
        delivered, rate, before = delivered + step, rate + change, at_ns
    return None


def _spans(deliveries: pl.DataFrame, transfers: pl.DataFrame) -> Iterator[tuple[int, int, int]]:
    """Beginning and end of each bin, and its bytes, within the first and last byte of its flow."""
    keys = ["traffic", "index", "way"]
    bins = deliveries.join(transfers.select(*keys, "first_byte_ns", "end_ns"), on=keys)
    for row in bins.select("t_ns", "bytes", "first_byte_ns", "end_ns").iter_rows():
        begin_ns, size, first_ns, last_ns = row
        begin_ns, end_ns = max(begin_ns, first_ns), min(begin_ns + _BIN_NS, last_ns)
        yield begin_ns, max(end_ns, begin_ns + 1), size
