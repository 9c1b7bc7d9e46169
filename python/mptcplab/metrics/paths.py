"""Figures by path. A path is named by the client's interface.

The payload of a path is what the client's subflows over that interface carried, as the client's
kernel counts it: received for downloads, acknowledged for uploads. Interface counters would add
headers, acknowledgements, retransmissions and other traffic, so that the parts would not compare
with the goodput; they serve for the course of the throughput over time instead.
"""

from dataclasses import dataclass

import polars as pl

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.transfers import goodput_mbps, rate_mbps
from mptcplab.recording import Recording


@dataclass(frozen=True)
class PathFigures:
    """Traffic of one interface of one client."""

    client: str
    interface: str
    goodput_mbps: float | None
    """The client's goodput, in proportion to the payload of its paths: the paths sum up to it."""
    share: float
    """Part of the client's payload that went this way, 0 to 1."""
    payload_bytes: int
    """Payload at the level of subflows; data sent over two paths counts on both."""
    carried_mbps: float | None
    """That payload over the time of the client's goodput."""


def subflow_totals(recording: Recording, plan: PlanView) -> pl.DataFrame:
    """Last counters of each subflow at each node: one row a (node, subflow).

    Not by token: that of a connection that fell back is known while it is sampled, but null in its
    final row.
    Columns beside these: ``interface`` (by the plan's addresses, else as sampled last),
    ``bytes_sent``, ``bytes_acked``, ``bytes_received``, ``bytes_retrans``.
    """
    counters = ["bytes_sent", "bytes_acked", "bytes_received", "bytes_retrans"]
    totals = (
        recording.frame("subflow_samples")
        .sort("t_ns")
        .group_by(["node", "subflow"], maintain_order=True)
        .agg(pl.col(counters).max(), pl.col("interface").drop_nulls().last())
    )
    planned = [_interface(subflow, plan) for subflow in totals["subflow"]]
    return totals.with_columns(
        pl.Series("planned", planned, pl.String).fill_null(totals["interface"]).alias("interface")
    )


def path_figures(
    transfers: pl.DataFrame, recording: Recording, plan: PlanView
) -> tuple[PathFigures, ...]:
    """The paths of every client, in the order of the plan."""
    totals = subflow_totals(recording, plan)
    figures = []
    for (client,), own in transfers.group_by(["client"], maintain_order=True):
        ways = set(own["way"])
        payload = pl.lit(0)
        if "down" in ways:
            payload = payload + pl.col("bytes_received").fill_null(0)
        if "up" in ways:
            payload = payload + pl.col("bytes_acked").fill_null(0)
        by_interface = (
            totals.filter(pl.col("node") == client, pl.col("interface").is_not_null())
            .group_by("interface", maintain_order=True)
            .agg(payload.sum().alias("payload"))
        )
        total = by_interface["payload"].sum()
        if total == 0:
            continue
        goodput = goodput_mbps(own)
        figures += [
            PathFigures(
                client=str(client),
                interface=interface,
                goodput_mbps=None if goodput is None else goodput * payload_bytes / total,
                share=payload_bytes / total,
                payload_bytes=payload_bytes,
                carried_mbps=rate_mbps(payload_bytes, own),
            )
            for interface, payload_bytes in by_interface.iter_rows()
        ]
    return tuple(sorted(figures, key=lambda path: plan.place(path.client, path.interface)))


def retransmitted_bytes(recording: Recording, plan: PlanView) -> int | None:
    """Payload that TCP sent again on the same subflow, summed over both ends of all subflows."""
    return _known_sum(subflow_totals(recording, plan)["bytes_retrans"])


def reinjected_bytes(recording: Recording) -> int | None:
    """Payload that MPTCP sent again on another subflow, summed over both ends."""
    totals = (
        recording.frame("connection_samples")
        .group_by("node", "token")
        .agg(pl.col("bytes_retrans").max())
    )
    return _known_sum(totals["bytes_retrans"])


def _known_sum(values: pl.Series) -> int | None:
    return None if values.null_count() == len(values) else int(values.sum())


def _interface(subflow: str, plan: PlanView) -> str | None:
    local = subflow.partition("-")[0].rpartition(":")[0].strip("[]")
    _, interface = plan.interface_of_address.get(local, (None, None))
    return interface
