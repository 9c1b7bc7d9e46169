"""Gain of several paths over the best single one."""

from collections.abc import Sequence

LEAST_GAIN = 0.05
"""Where all paths at once carry less than this beyond the best one, there is nothing to gain."""
LEAST_AT_ONCE_BYTES = 300_000
"""Less than this, shared by all paths, goes over the fastest one before the others have begun."""


def aggregation_benefit(
    goodput: float | None, single: Sequence[float | None], at_once: float | None = None
) -> float | None:
    """(g − C_max) / (S − C_max) if g ≥ C_max, else (g − C_max) / C_max.

    1: as much as all paths together; 0: no more than the best; −1: nothing. Not clipped above 1.
    ``single`` holds the goodput of TCP over each path alone in the same repetition, and S is their
    sum. Paths that share a bottleneck do not reach it: ``at_once`` is what TCP over all of them at
    once carried, and S the smaller of both. Where that is not ``LEAST_GAIN`` above C_max, a g ≥
    C_max is worth 0. Null for fewer than two paths, or where one of them does not work.
    Kaspar: Multipath Aggregation of Heterogeneous Networks, thesis, University of Oslo, 2011;
    Paasch, Khalili, Bonaventure: On the Benefits of Applying Experimental Design to Improve
    Multipath TCP, CoNEXT 2013. S by measurement is ours.
    """
    known = _working(single)
    if goodput is None or known is None:
        return None
    best = max(known)
    if goodput < best:
        return (goodput - best) / best
    if at_once is None:
        return (goodput - best) / (sum(known) - best)
    room = min(sum(known), at_once) - best
    return (goodput - best) / room if room >= LEAST_GAIN * best else 0.0


def delay_benefit(
    time: float | None, single: Sequence[float | None], at_once: float | None = None
) -> float | None:
    """(T_best − T) / (T_best − T_ideal) if T ≤ T_best, else −(T − T_best) / T.

    T_best is the time of the best single path, T_ideal = 1 / Σ(1 / T_i) that of all paths
    together without loss; of paths that share a bottleneck the time ``at_once`` in which TCP over
    all of them at once delivered as much, where that is longer. 1: ideal; 0: as the best path;
    towards −1: far slower. Where T_ideal is not ``LEAST_GAIN`` below T_best, a T ≤ T_best is worth
    0. Null as above. This formula is ours; no published one was found.
    """
    known = _working(single)
    if time is None or time <= 0 or known is None:
        return None
    best = min(known)
    if time > best:
        return -(time - best) / time
    ideal = 1 / sum(1 / one for one in known)
    if at_once is None:
        return (best - time) / (best - ideal)
    room = best - max(ideal, at_once)
    return (best - time) / room if room >= LEAST_GAIN * best else 0.0


def bound_mbps(payload_bytes: int, seconds: float, longest_s: float) -> float:
    """Rate that a transfer had at most which did not finish in the time that it was given.

    Of one of which nothing came: that of a byte.
    """
    return max(payload_bytes, 1) * 8 / max(seconds, longest_s) / 1e6


def transfer_benefits(
    size_bytes: int,
    rate: float | None,
    single: Sequence[float | None],
    at_once: float | None,
) -> tuple[float | None, float | None]:
    """Both benefits, of aggregation and of delay, of a transfer between real hosts.

    ``rate`` is that of MPTCP, and ``single`` those of TCP over each path: of a transfer that did
    not finish its bound. ``at_once`` is the rate of TCP over all paths at once, which share the
    size; the sum of the paths stands for it where it is not known, or the size is too small.
    """
    if rate is None:
        return None, None
    if at_once is None or size_bytes < LEAST_AT_ONCE_BYTES:
        at_once = sum(known for known in single if known is not None)

    def time(rate: float | None) -> float | None:
        return size_bytes * 8 / rate / 1e6 if rate else None

    return (
        aggregation_benefit(rate, single, at_once),
        delay_benefit(time(rate), [time(known) for known in single], time(at_once)),
    )


def _working(single: Sequence[float | None]) -> list[float] | None:
    known = [value for value in single if value is not None and value > 0]
    return known if len(known) == len(single) >= 2 else None
