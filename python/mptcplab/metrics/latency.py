"""Figures of echoes and of requests and their answers."""

from mptcplab.metrics.statistics import percentile
from mptcplab.recording import Recording

PERCENTILES = (50, 90, 99)


def latency_figures(recording: Recording) -> dict[str, float | None]:
    """Mean and percentiles of the times to the answer, and the share that got none.

    Names as in :mod:`mptcplab.metrics.definitions`; empty where nothing was asked.
    """
    latencies = recording.frame("latencies")
    if latencies.is_empty():
        return {}
    answered = [time / 1e9 for time in latencies["rtt_ns"].drop_nulls()]
    figures: dict[str, float | None] = {
        "latency_s": sum(answered) / len(answered) if answered else None
    }
    for percent in PERCENTILES:
        figures[f"latency_s.p{percent}"] = percentile(answered, percent)
    figures["latency_loss"] = 1 - len(answered) / latencies.height
    return figures
