"""A scenario fitted to a capture or to measured paths: estimates, simulated, and what helps."""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.fit.error import FitError
    from mptcplab.fit.fitting import Fit, fitted
    from mptcplab.fit.measured import MeasuredFit, explained
    from mptcplab.fit.measured_words import untold, why
    from mptcplab.fit.paths import PathEstimate

__all__ = ["Fit", "FitError", "MeasuredFit", "PathEstimate", "explained", "fitted", "untold", "why"]

__getattr__ = lazy.names(
    __name__,
    {
        "Fit": "fitting",
        "FitError": "error",
        "MeasuredFit": "measured",
        "PathEstimate": "paths",
        "explained": "measured",
        "fitted": "fitting",
        "untold": "measured_words",
        "why": "measured_words",
    },
)
