"""How much the goodput varies from second to second."""

from collections.abc import Sequence

import numpy as np

from mptcplab.metrics.deliveries import Bins, delivered_until, delivery_bins
from mptcplab.metrics.rows import Row, grouped
from mptcplab.metrics.transfers import together_ns
from mptcplab.recording import Recording

INTERVAL_NS = 1_000_000_000
"""Time over which a goodput is taken; that of iperf3's reports."""
LEAST = 5
"""Intervals from which on the variation is told of."""


def variation_figures(transfers: Sequence[Row], recording: Recording) -> dict[str, float | None]:
    """``goodput_variation`` of the transfers, and of each flow where there are several.

    A figure is missing where all of its transfers were going on together for less than five
    seconds, where one has a size or failed, or where they delivered nothing.
    """
    by_flow = {flow: own for (flow,), own in grouped(transfers, "traffic").items()}
    chosen = {"goodput_variation": transfers}
    if len(by_flow) > 1:
        chosen |= {f"goodput_variation.{flow}": own for flow, own in by_flow.items()}
    spans = {name: together_ns(own) for name, own in chosen.items()}
    if not any(spans.values()):
        return {}
    bins = delivery_bins(recording)
    found = {
        name: _variation(chosen[name], bins, *span)
        for name, span in spans.items()
        if span is not None
    }
    return {name: value for name, value in found.items() if value is not None}


def _variation(transfers: Sequence[Row], bins: Bins, start_ns: int, end_ns: int) -> float | None:
    """Standard deviation over mean of what was delivered in each whole interval."""
    count = (end_ns - start_ns) // INTERVAL_NS
    if count < LEAST:
        return None
    edges = start_ns + INTERVAL_NS * np.arange(count + 1, dtype=np.float64)
    payloads = np.diff(delivered_until(bins, transfers, edges))
    mean = float(payloads.mean())
    return float(payloads.std(ddof=1)) / mean if mean > 0 else None
