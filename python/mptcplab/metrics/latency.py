"""Figures of echoes and of requests and their answers."""

import polars as pl

from mptcplab.metrics.definitions import PERCENTILES
from mptcplab.metrics.statistics import percentile
from mptcplab.recording import Recording


def latency_figures(recording: Recording) -> dict[str, float | None]:
    """Mean and percentiles of the times to the answer, and the share that got none.

    Names as in :mod:`mptcplab.metrics.definitions`: of all flows together, and of each. Empty
    where nothing was asked.
    """
    latencies = recording.frame("latencies")
    figures = _figures(latencies, "latency_s")
    for (traffic,), own in latencies.group_by(["traffic"], maintain_order=True):
        figures |= _figures(own, f"latency_s.{traffic}")
    if not latencies.is_empty():
        figures["latency_loss"] = latencies["rtt_ns"].null_count() / latencies.height
    return figures


def _figures(latencies: pl.DataFrame, name: str) -> dict[str, float | None]:
    if latencies.is_empty():
        return {}
    answered = [time / 1e9 for time in latencies["rtt_ns"].drop_nulls()]
    mean = sum(answered) / len(answered) if answered else None
    percentiles = {f"{name}.p{p}": percentile(answered, p) for p in PERCENTILES}
    return {name: mean} | percentiles
