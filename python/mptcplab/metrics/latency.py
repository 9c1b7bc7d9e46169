"""Figures of echoes and of requests and their answers."""

from collections.abc import Sequence

from mptcplab.metrics.rows import Row, grouped, known
from mptcplab.metrics.statistics import mean_and_percentiles
from mptcplab.recording import Recording


def latency_figures(recording: Recording) -> dict[str, float | None]:
    """Mean and percentiles of the times to the answer, and the share that got none.

    Names as in :mod:`mptcplab.metrics.definitions`: of all flows together, and of each. Empty
    where nothing was asked.
    """
    latencies = list(recording.rows("latencies", ("traffic", "rtt_ns")))
    if not latencies:
        return {}
    figures = _figures(latencies, "latency_s")
    for (traffic,), own in grouped(latencies, "traffic").items():
        figures |= _figures(own, f"latency_s.{traffic}")
    lost = sum(row["rtt_ns"] is None for row in latencies)
    return figures | {"latency_loss": lost / len(latencies)}


def _figures(latencies: Sequence[Row], name: str) -> dict[str, float | None]:
    return mean_and_percentiles(name, [time / 1e9 for time in known(latencies, "rtt_ns")])
