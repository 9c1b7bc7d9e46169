"""Bytes that the subflows of MPTCP received beyond those that the application got, and why.

Data arrives twice where it was sent on several subflows, and it waits where data before it, on
another subflow, is missing. The end of a run finds the latter undelivered.
"""

from collections.abc import Mapping, Sequence

from mptcplab.metrics.rows import Row, known_sum, total
from mptcplab.metrics.totals import ConnectionTotals, SubflowTotals


def received_figures(
    transfers: Sequence[Row],
    subflows: Sequence[SubflowTotals],
    connections: Mapping[tuple[str, int], ConnectionTotals],
) -> dict[str, int | None]:
    """``undelivered_bytes`` and ``duplicate_bytes`` of a recording.

    Missing where no transfer spoke MPTCP; null where the connections' own counters are not known.
    Two bounds decide: what exceeds the goodput is undelivered as far as it was not reinjected, and
    no more than what the connections sent beyond it. Transfers with a size that ended without error
    left nothing behind. The second bound holds where Linux sends data of a closed subflow
    again, which it does not count as reinjected.
    """
    spoken = [row for row in transfers if row["token"] is not None and not row["fallback"]]
    if not spoken:
        return {}
    delivered = total(spoken, "bytes")
    excess = max(0, _received(spoken, subflows) - delivered)
    reinjected = known_sum([one.bytes_retrans for one in connections.values()])
    sent = known_sum([one.bytes_sent for one in connections.values()])
    if reinjected is None or sent is None:
        return {"undelivered_bytes": None, "duplicate_bytes": None}
    is_whole = all(row["is_sized"] and row["error"] is None for row in spoken)
    undelivered = 0 if is_whole else max(0, min(excess - reinjected, sent - delivered))
    return {"undelivered_bytes": undelivered, "duplicate_bytes": excess - undelivered}


def _received(transfers: Sequence[Row], subflows: Sequence[SubflowTotals]) -> int:
    """Payload of the transfers' subflows as the client knows it: received, or acknowledged."""
    by_connection: dict[tuple[str, int | None], list[SubflowTotals]] = {}
    for one in subflows:
        by_connection.setdefault((one.node, one.token), []).append(one)
    return sum(
        (one.bytes_acked if row["way"] == "up" else one.bytes_received) or 0
        for row in transfers
        for one in by_connection.get((row["client"], row["token"]), ())
    )
