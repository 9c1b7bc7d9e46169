"""The events of the protocol in a captured run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mptcplab import trace
from mptcplab.trace.story import story

MOST_LINES = 40
"""Lines of events that are shown; the first and the last ones where there are more."""


def exchange(files: Sequence[Path], kinds: Sequence[str]) -> tuple[str, ...]:
    """The events of these kinds in captures of one run, a line each; of all where none is named."""
    with trace.read([str(file) for file in files], packets=False) as found:
        every = [line.strip() for line in story(trace.view(found))]
    lines = [line for line in every if not kinds or any(f" {kind} " in line for kind in kinds)]
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    half = MOST_LINES // 2
    return (*lines[:half], f"… {len(lines) - 2 * half} lines …", *lines[-half:])
