"""Smoothed round-trip times of subflows, as their senders see them."""

from collections.abc import Collection

import polars as pl

from mptcplab.metrics.definitions import PERCENTILES
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.statistics import percentile
from mptcplab.recording import Recording

OPEN = ("ESTABLISHED", "CLOSE-WAIT")
"""States in which an end has not closed its side."""


def round_trip_figures(
    transfers: pl.DataFrame, recording: Recording, plan: PlanView
) -> dict[str, float | None]:
    """Mean and percentiles in seconds: of all subflows, and of those over each client interface.

    Of the samples in which the sender had got an acknowledgement of payload; empty without any.
    """
    samples = round_trip_samples(transfers, recording, plan)
    figures = _figures("rtt_s", samples)
    known = samples.filter(pl.col("interface").is_not_null())
    for (interface,), own in known.group_by(["interface"], maintain_order=True):
        figures |= _figures(f"rtt_s.{interface}", own)
    return figures


def round_trip_samples(
    transfers: pl.DataFrame, recording: Recording, plan: PlanView
) -> pl.DataFrame:
    """The samples of the sending ends: ``t_ns``, ``subflow``, ``rtt_us``, ``bytes_acked``.

    And ``interface``, the client's, null where it is not known. By subflow, in the order of time,
    each up to its end.
    """
    clients, senders = set(transfers["client"]), senders_of(transfers)
    samples = (
        recording.frame("subflow_samples")
        .filter(
            pl.col("node").is_in(list(senders)), pl.col("rtt_us") > 0, pl.col("bytes_acked") > 1
        )
        .sort("t_ns")
    )
    parts = [
        _until_its_end(every).select(
            "t_ns",
            "subflow",
            "rtt_us",
            "bytes_acked",
            interface=pl.lit(_client_interface(str(subflow), clients, plan), pl.String),
        )
        for (subflow,), every in samples.group_by(["subflow"], maintain_order=True)
    ]
    empty = samples.clear().select(
        "t_ns", "subflow", "rtt_us", "bytes_acked", interface=pl.lit(None, pl.String)
    )
    return pl.concat([empty, *parts])


def senders_of(transfers: pl.DataFrame) -> set[str]:
    """The nodes that send the payload of these transfers."""
    return {
        row["server"] if row["way"] == "down" else row["client"] for row in transfers.to_dicts()
    }


def _figures(name: str, samples: pl.DataFrame) -> dict[str, float | None]:
    if samples.is_empty():
        return {}
    seconds = [rtt_us / 1e6 for rtt_us in samples["rtt_us"]]
    percentiles = {f"{name}.p{p}": percentile(seconds, p) for p in PERCENTILES}
    return {name: sum(seconds) / len(seconds)} | percentiles


def _until_its_end(rows: pl.DataFrame) -> pl.DataFrame:
    """The samples of a subflow up to its end, rows by time.

    The kernel keeps a subflow that was closed for as long as its FIN is not acknowledged, and its
    last round-trip time with it. A subflow ends with its last sample in which it was open, or,
    closing, had more of its data acknowledged than a sample before.
    """
    is_open = pl.col("state").is_null() | pl.col("state").is_in(OPEN)
    has_ended = ~is_open & (pl.col("bytes_acked").diff() <= 0)
    return rows.filter(~has_ended.fill_null(value=False).cum_max())


def _client_interface(subflow: str, clients: Collection[str], plan: PlanView) -> str | None:
    for end in subflow.split("-"):
        address = end.rpartition(":")[0].strip("[]")
        node, interface = plan.interface_of_address.get(address, (None, None))
        if node in clients:
            return interface
    return None
