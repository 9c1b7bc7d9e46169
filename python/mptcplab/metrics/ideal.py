"""Share of the ideal: of what the hosts' own links could carry, whatever lies between."""

from collections import defaultdict

import polars as pl

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.transfers import rate_mbps

_HEADERS_BYTES = 52
"""IPv4 and TCP with timestamps."""


def share_of_ideal(payload: pl.DataFrame, plan: PlanView) -> dict[str, float | None]:
    """Goodput over the most payload that the senders' and the receivers' links take.

    Empty where only one client sends or receives, or where the rate of a host's link is not fixed.
    """
    rates = _payload_rates_mbps(plan)
    if rates is None or payload["client"].n_unique() < 2:
        return {}
    ideal = 0.0
    for up, sender, receiver in ((True, "client", "server"), (False, "server", "client")):
        own = payload.filter(pl.col("way") == ("up" if up else "down"))
        sent = sum(rates[node][0] for node in own[sender].unique())
        received = sum(rates[node][1] for node in own[receiver].unique())
        ideal += min(sent, received)
    goodput = rate_mbps(int(payload["bytes"].sum()), payload)
    return {"share_of_ideal": None if goodput is None or not ideal else goodput / ideal}


def _payload_rates_mbps(plan: PlanView) -> dict[str, tuple[float, float]] | None:
    """The rates of each host over all its links, out and in; null where one is not fixed."""
    rates: defaultdict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for link in plan.host_links:
        if link.outgoing_bps is None or link.incoming_bps is None:
            return None
        packet = link.mtu + link.framing_bytes
        share = (link.mtu - _HEADERS_BYTES) / packet / 1e6
        sent, received = rates[link.node]
        rates[link.node] = (sent + link.outgoing_bps * share, received + link.incoming_bps * share)
    return rates
