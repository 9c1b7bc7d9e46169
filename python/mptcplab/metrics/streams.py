"""Figures by stream: of several connections that a bulk transfer has at once."""

import polars as pl

from mptcplab.metrics.statistics import jain_index
from mptcplab.metrics.transfers import goodput_by


def stream_figures(transfers: pl.DataFrame) -> dict[str, float | None]:
    """``stream_share`` of each stream, and ``jain.streams``.

    Streams are numbered from 1. Where several flows or clients have streams, or both ways do,
    those of one number count together, and each flow has its own shares beside that. A flow with
    one stream does not count. Empty where no bulk transfer has more than one stream.
    """
    is_parallel = pl.col("index").n_unique().over("traffic") > 1
    streams = transfers.filter(pl.col("kind") == "bulk").filter(is_parallel)
    if streams.is_empty():
        return {}
    figures = _shares(streams, "stream_share")
    for (flow,), own in streams.group_by(["traffic"], maintain_order=True):
        figures |= _shares(own, f"stream_share.{flow}")
    each = streams.with_columns(
        pl.concat_str("traffic", "way", pl.col("index").cast(pl.String), separator="/").alias("of")
    )
    rates = [rate for rate in goodput_by(each, "of").values() if rate is not None]
    return figures | {"jain.streams": jain_index(rates)}


def _shares(streams: pl.DataFrame, name: str) -> dict[str, float | None]:
    total = int(streams["bytes"].sum())
    by_stream = streams.group_by("index").agg(pl.col("bytes").sum()).sort("index")
    return {
        f"{name}.{index + 1}": payload / total if total else None
        for index, payload in by_stream.iter_rows()
    }
