"""A scenario fitted to a capture: its paths estimated, run in the simulator, and what helps it."""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.fit.fitting import Fit, FitError, fitted
    from mptcplab.fit.paths import PathEstimate

__all__ = ["Fit", "FitError", "PathEstimate", "fitted"]

__getattr__ = lazy.names(
    __name__,
    {"Fit": "fitting", "FitError": "fitting", "PathEstimate": "paths", "fitted": "fitting"},
)
