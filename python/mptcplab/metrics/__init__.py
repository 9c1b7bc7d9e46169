"""Metrics: pure functions from recordings to figures (``docs/metrics.md``)."""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.metrics.comparison import VariantMetrics, compare
    from mptcplab.metrics.definitions import DEFINITIONS, Definition, definition_of
    from mptcplab.metrics.expectations import Sides, Verdict, judge, names_of
    from mptcplab.metrics.measurement import Measurement, measure
    from mptcplab.metrics.naming import unknown_metrics
    from mptcplab.metrics.statistics import Estimate

__all__ = [
    "DEFINITIONS",
    "Definition",
    "Estimate",
    "Measurement",
    "Sides",
    "VariantMetrics",
    "Verdict",
    "compare",
    "definition_of",
    "judge",
    "measure",
    "names_of",
    "unknown_metrics",
]

__getattr__ = lazy.names(
    __name__,
    {
        "DEFINITIONS": "definitions",
        "Definition": "definitions",
        "Estimate": "statistics",
        "Measurement": "measurement",
        "Sides": "expectations",
        "VariantMetrics": "comparison",
        "Verdict": "expectations",
        "compare": "comparison",
        "definition_of": "definitions",
        "judge": "expectations",
        "names_of": "expectations",
        "measure": "measurement",
        "unknown_metrics": "naming",
    },
)
