"""How much a benchmark measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """The effort that the command line asks of each benchmark."""

    repeat: int
    """Runs of each figure."""
    seconds: float
    """Length of a run, where it has one to choose."""
    shortest: bool = False
    """Only whether the benchmark works: sizes that follow neither of the two are the least."""

    def sized(self, usual: int, least: int) -> int:
        """The size of a workload: the usual one, or the least that still is one."""
        return least if self.shortest else usual


SHORTEST = Effort(repeat=1, seconds=0.25, shortest=True)
