"""Policies of the controller in Python: a function chooses the path of each subflow at switches."""

from mptcplab.policy.views import WAIT, Connection, Flow, Link, Path, Paths, Port, Subflow, Wait

__all__ = [
    "WAIT",
    "Connection",
    "Flow",
    "Link",
    "Path",
    "Paths",
    "Port",
    "Subflow",
    "Wait",
]
