"""Decisions of a controller of switches."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Decision:
    """A decision about a subflow, or the begin or end of the channel of a switch."""

    id: str
    """Identifier of its row in the page; empty where it has none."""
    time_s: float
    connection: str
    """The transfer that the subflow belongs to; empty where that is not known."""
    subject: str
    """Addresses and ports of the subflow, or the switch."""
    words: str
