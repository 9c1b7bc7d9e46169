"""The types of schedulers and congestion controls that are written in Python."""

from collections.abc import Callable
from typing import Protocol

from mptcplab._native import Ack as CongestionAck
from mptcplab._native import CongestionEvent
from mptcplab._native import Connection as SchedulerConnection
from mptcplab._native import PathView as CongestionPath
from mptcplab._native import Subflow as SchedulerSubflow
from mptcplab._native import Window as CongestionWindow

__all__ = [
    "CongestionAck",
    "CongestionControl",
    "CongestionEvent",
    "CongestionPath",
    "CongestionWindow",
    "Scheduler",
    "SchedulerConnection",
    "SchedulerSubflow",
]

Scheduler = Callable[[SchedulerConnection], tuple[int, int] | None]
"""Gives the place of a subflow and the bytes of new data that it gets, or None to wait."""


class CongestionControl(Protocol):
    """A congestion control of one TCP connection or one subflow.

    There may be three things more: `coupled = True`, to be shown the other subflows; `on_undo()`,
    after a congestion event that proved to be none, with window and threshold restored; and
    `on_restart(now_ns, idle_ns)`, where sending goes on after nothing was in flight.
    """

    def on_ack(self, window: CongestionWindow, ack: CongestionAck, /) -> None:
        """Sets `window.bytes` after data was acknowledged."""

    def on_congestion_event(self, window: CongestionWindow, event: CongestionEvent, /) -> int:
        """Gives the new slow start threshold in bytes; below two segments it becomes two."""
