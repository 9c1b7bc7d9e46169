"""Figures of a captured run: the events of the protocol, and round-trip times."""

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


def round_trips(files: Sequence[Path]) -> str | None:
    """Round-trip times of the largest connection by sequence number; null if there are none."""
    from mptcplab.trace.render.plots import plots

    with trace.read([str(file) for file in files]) as found:
        view = trace.view(found)
        if view.connections.is_empty():
            return None
        sizes = view.connections["client_bytes"] + view.connections["server_bytes"]
        largest = int(view.connections["connection"][int(sizes.arg_max() or 0)])
        drawn = [plot for plot in plots(view, largest) if "sequence" in plot.title.lower()]
    return None if not drawn else str(drawn[-1].svg)
