"""Time that can be stopped and turned back: sessions of a simulated run."""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.debugger.problem import DebugError
    from mptcplab.debugger.session import Session, debug
    from mptcplab.debugger.stop import Happening, Stop

__all__ = ["DebugError", "Happening", "Session", "Stop", "debug"]

__getattr__ = lazy.names(
    __name__,
    {
        "DebugError": "problem",
        "Happening": "stop",
        "Session": "session",
        "Stop": "stop",
        "debug": "session",
    },
)
