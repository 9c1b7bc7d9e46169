"""The cost of headers and acknowledgements, by the packets that hosts hand to their links."""

import polars as pl

from mptcplab.metrics.paths import subflow_totals
from mptcplab.metrics.plan_view import PlanView
from mptcplab.recording import Recording


def header_overhead(recording: Recording, plan: PlanView) -> dict[str, float | None]:
    """``header_overhead`` of a recording.

    All that the hosts send has to be TCP of transfers: empty where there are echoes, datagrams or
    commands beside them. Null where a counter is not known, or no payload was sent. At least 0: a
    host counts as sent what it discards while a cable is unplugged, which no link is offered.
    """
    if not plan.sends_transfers_only:
        return {}
    links = (
        recording.frame("link_samples")
        .filter(pl.col("from").str.split(".").list.first().is_in(list(plan.hosts)))
        .group_by("link", "from")
        .agg(pl.col("offered_bytes").max())["offered_bytes"]
    )
    totals = subflow_totals(recording, plan)
    sent = totals.filter(pl.col("node").is_in(list(plan.hosts)))["bytes_sent"]
    packets, payload = int(links.sum()), int(sent.sum())
    if not packets or not payload or links.null_count() or sent.null_count():
        return {"header_overhead": None}
    return {"header_overhead": max(0.0, 1 - payload / packets)}
