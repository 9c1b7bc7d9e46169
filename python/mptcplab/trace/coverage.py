"""How much of a connection's data a capture holds: the rest went over interfaces that it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.trace.accounts import Account
from mptcplab.trace.views import View

_NOTICEABLE = 0.05
"""Part of the data above which so much is missing that paths are, and not single packets."""
_FIRST_BYTE = 1
"""Data sequence number of the first byte of data."""


@dataclass(frozen=True)
class Coverage:
    """Data of a connection's sender."""

    captured_bytes: int
    acknowledged_bytes: int
    """By the highest data acknowledgement, which counts the data of all subflows."""

    @property
    def lacks_paths(self) -> bool:
        """Whether data was acknowledged that no captured subflow carried."""
        missing = self.acknowledged_bytes - self.captured_bytes
        return missing > _NOTICEABLE * self.acknowledged_bytes


def coverage(of: Account, view: View) -> Coverage | None:
    """The data that the capture holds; null of TCP, after a fallback, and without packets."""
    row = of.row
    if row["protocol"] != "mptcp" or row["fallback"] is not None:
        return None
    highest = view.data_acknowledged.get((row["connection"], of.sender))
    if highest is None:
        return None
    # Data without a mapping that was captured has come over a captured subflow all the same.
    captured = row[f"{of.sender}_bytes"] + row[f"{of.sender}_unmapped_bytes"]
    return Coverage(captured, highest - _FIRST_BYTE)
