"""Share of the ideal: of what the hosts' own links could carry, whatever lies between."""

from collections import defaultdict
from collections.abc import Sequence

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import Row, total
from mptcplab.metrics.transfers import rate_mbps

_HEADERS_BYTES = 52
"""IPv4 and TCP with timestamps."""


def share_of_ideal(payload: Sequence[Row], plan: PlanView) -> dict[str, float | None]:
    """Goodput over the most payload that the senders' and the receivers' links take.

    Empty where only one client sends or receives, or where the rate of a host's link is not fixed.
    """
    if len({row["client"] for row in payload}) < 2:
        return {}
    rates = _payload_rates_mbps(plan)
    if rates is None:
        return {}
    ideal = 0.0
    for up, sender, receiver in ((True, "client", "server"), (False, "server", "client")):
        own = [row for row in payload if row["way"] == ("up" if up else "down")]
        sent = sum(rates[node][0] for node in dict.fromkeys(row[sender] for row in own))
        received = sum(rates[node][1] for node in dict.fromkeys(row[receiver] for row in own))
        ideal += min(sent, received)
    goodput = rate_mbps(total(payload, "bytes"), payload)
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
