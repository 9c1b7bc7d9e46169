"""Metrics: pure functions from recordings to figures (``docs/metrics.md``).

Names are loaded when they are first used, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab.metrics.comparison import VariantMetrics, compare
    from mptcplab.metrics.definitions import DEFINITIONS, Definition, definition_of
    from mptcplab.metrics.expectations import Verdict, judge
    from mptcplab.metrics.measurement import Measurement, measure
    from mptcplab.metrics.naming import unknown_metrics
    from mptcplab.metrics.statistics import Estimate

__all__ = [
    "DEFINITIONS",
    "Definition",
    "Estimate",
    "Measurement",
    "VariantMetrics",
    "Verdict",
    "compare",
    "definition_of",
    "judge",
    "measure",
    "unknown_metrics",
]

_HOMES = {
    "DEFINITIONS": "definitions",
    "Definition": "definitions",
    "Estimate": "statistics",
    "Measurement": "measurement",
    "VariantMetrics": "comparison",
    "Verdict": "expectations",
    "compare": "comparison",
    "definition_of": "definitions",
    "judge": "expectations",
    "measure": "measurement",
    "unknown_metrics": "naming",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
