"""Time that can be stopped and turned back: sessions of a simulated run."""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.debugger.failure import Failure
    from mptcplab.debugger.opening import debug, debug_failure
    from mptcplab.debugger.problem import DebugError
    from mptcplab.debugger.session import Session
    from mptcplab.debugger.stop import Happening, Stop

__all__ = ["DebugError", "Failure", "Happening", "Session", "Stop", "debug", "debug_failure"]

__getattr__ = lazy.names(
    __name__,
    {
        "DebugError": "problem",
        "Failure": "failure",
        "Happening": "stop",
        "Session": "session",
        "Stop": "stop",
        "debug": "opening",
        "debug_failure": "opening",
    },
)
