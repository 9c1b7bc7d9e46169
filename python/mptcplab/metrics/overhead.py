"""The cost of headers and acknowledgements, by the packets that hosts hand to their links."""

from collections.abc import Sequence

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import larger
from mptcplab.metrics.totals import SubflowTotals
from mptcplab.recording import Recording


def header_overhead(
    totals: Sequence[SubflowTotals], recording: Recording, plan: PlanView
) -> dict[str, float | None]:
    """``header_overhead`` of a recording.

    All that the hosts send has to be TCP of transfers: empty where there are echoes, datagrams or
    commands beside them. Null where a counter is not known, or no payload was sent. At least 0: a
    host counts as sent what it discards while a cable is unplugged, which no link is offered.
    """
    if not plan.sends_transfers_only:
        return {}
    offered: dict[tuple[str, str], int | None] = {}
    for row in recording.rows("link_samples", ("link", "from", "offered_bytes")):
        if row["from"].partition(".")[0] in plan.hosts:
            key = row["link"], row["from"]
            offered[key] = larger(offered.get(key), row["offered_bytes"])
    packets = list(offered.values())
    payload = [one.bytes_sent for one in totals if one.node in plan.hosts]
    if None in packets or None in payload:
        return {"header_overhead": None}
    sent, carried = sum(filter(None, packets)), sum(filter(None, payload))
    return {"header_overhead": max(0.0, 1 - carried / sent) if sent and carried else None}
