"""The part of a result that is shown in detail."""

from statistics import median_low

from mptcplab.metrics.comparison import Run, VariantMetrics

ASIDE = 0.1
"""A way of a command that carried less than this part of its payload is not drawn."""


def representative(variant: VariantMetrics) -> Run | None:
    """The run with the median completion time or else goodput; of an even number, the lower one."""
    for metric in ("completion_s", "goodput"):
        known = [run for run in variant.runs if run.measurement.metrics.get(metric) is not None]
        if known:
            values = [run.measurement.metrics[metric] or 0.0 for run in known]
            return known[values.index(median_low(values))]
    return variant.runs[0] if variant.runs else None
