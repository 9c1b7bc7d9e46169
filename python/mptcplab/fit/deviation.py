"""How far a fitted scenario is from what it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Deviation:
    """A figure of the real connection beside that of the fitted scenario."""

    figure: str
    """Of a capture `goodput_mbps`, or of a path `carried_mbps` (payload) and `rtt_ms` (mean round
    trip), both by the same analysis; of measured paths `mptcp_mbps`, `at_once_mbps`, or of a path
    `tcp_s`."""
    path: str | None
    real: float
    """As captured, or measured."""
    simulated: float
    """Of a capture the mean over runs."""

    @property
    def part(self) -> float:
        """(simulated − real) / real."""
        return (self.simulated - self.real) / self.real

    def to_json(self, real: str) -> dict[str, Any]:
        """As in `mptcplab explain CAPTURE --json` and `mptcplab probe --explain --json`.

        The real figure stands by the name `real`.
        """
        return {
            "figure": self.figure,
            "path": self.path,
            real: self.real,
            "simulated": self.simulated,
            "deviation": self.part,
        }
