"""Gain of several paths over the best single one."""

from collections.abc import Sequence


def aggregation_benefit(goodput: float | None, single: Sequence[float | None]) -> float | None:
    """(g − C_max) / (ΣC − C_max) if g ≥ C_max, else (g − C_max) / C_max.

    1: as much as all paths together; 0: no more than the best; −1: nothing. Not clipped above 1.
    ``single`` holds the goodput of TCP over each path alone in the same repetition. Null for
    fewer than two paths, or where one of them does not work.
    Kaspar: Multipath Aggregation of Heterogeneous Networks, thesis, University of Oslo, 2011;
    Paasch, Khalili, Bonaventure: On the Benefits of Applying Experimental Design to Improve
    Multipath TCP, CoNEXT 2013.
    """
    known = _working(single)
    if goodput is None or known is None:
        return None
    best = max(known)
    if goodput >= best:
        return (goodput - best) / (sum(known) - best)
    return (goodput - best) / best


def delay_benefit(time: float | None, single: Sequence[float | None]) -> float | None:
    """(T_best − T) / (T_best − T_ideal) if T ≤ T_best, else −(T − T_best) / T.

    T_best is the time of the best single path, T_ideal = 1 / Σ(1 / T_i) that of all paths
    together without loss. 1: ideal; 0: as the best path; towards −1: far slower. Null as above.
    This formula is ours; no published one was found.
    """
    known = _working(single)
    if time is None or time <= 0 or known is None:
        return None
    best = min(known)
    ideal = 1 / sum(1 / one for one in known)
    if time <= best:
        return (best - time) / (best - ideal)
    return -(time - best) / time


def _working(single: Sequence[float | None]) -> list[float] | None:
    known = [value for value in single if value is not None and value > 0]
    return known if len(known) == len(single) >= 2 else None
