"""TCP over all paths at once: the most that paths with common links can carry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mptcplab.metrics.deliveries import BIN_NS, Bins, delivery_bins, key_of
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rate import NS_PER_S
from mptcplab.metrics.rows import Row, known, total
from mptcplab.metrics.transfers import goodput_mbps, own_transfers, timed_transfers
from mptcplab.recording import Recording


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
    if not any(row["is_sized"] for row in transfers):
        return AtOnce(goodput_mbps(transfers), None)
    payload = float(total(transfers, "bytes")) / len(plan.task_by_interface)
    starts_ns, exchanges = known(transfers, "start_ns"), plan.exchanges
    whole = all(row["is_sized"] and row["error"] is None for row in transfers)
    if not whole or not starts_ns or exchanges is None:
        return AtOnce(None, None)
    begun = min(starts_ns)
    reached_ns = _reached_ns(delivery_bins(recording), transfers, payload)
    if reached_ns is None or reached_ns <= begun:
        return AtOnce(None, None)
    seconds = (reached_ns - begun) / NS_PER_S
    return AtOnce(payload * 8 / seconds / 1e6, seconds / exchanges)


def _reached_ns(bins: Bins, transfers: Sequence[Row], payload_bytes: float) -> float | None:
    """When so many bytes had been delivered."""
    changes: list[tuple[float, float]] = []
    for begin_ns, end_ns, size in _spans(bins, transfers):
        rate = size / (end_ns - begin_ns)
        changes += [(begin_ns, rate), (end_ns, -rate)]
    delivered, rate, before = 0.0, 0.0, 0.0
    for at_ns, change in sorted(changes):
        step = rate * (at_ns - before)
        if delivered + step >= payload_bytes * (1 - 1e-9):
            return before + (payload_bytes - delivered) / rate
        delivered, rate, before = delivered + step, rate + change, at_ns
    return None


def _spans(bins: Bins, transfers: Sequence[Row]) -> Iterator[tuple[int, int, int]]:
    """Beginning and end of each bin, and its bytes, within the first and last byte of its flow."""
    for transfer in transfers:
        for start_ns, size in bins.get(key_of(transfer), ()):
            begin_ns = max(start_ns, transfer["first_byte_ns"])
            end_ns = min(start_ns + BIN_NS, transfer["end_ns"])
            yield begin_ns, max(end_ns, begin_ns + 1), size
