"""The events of the protocol in a captured run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mptcplab import trace
from mptcplab.reproduction.model import Plot
from mptcplab.trace.story import story

MOST_LINES = 40
"""Lines of events that are shown; the first and the last ones where there are more."""


def exchange(files: Sequence[Path], plot: Plot) -> tuple[str, ...]:
    """The events in captures of one run that a plot tells of, a line each."""
    with trace.read([str(file) for file in files], packets=False) as found:
        every = [line.strip() for line in story(trace.view(found))]
    lines = [line for line in every if _is_told(line, plot)]
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    half = MOST_LINES // 2
    return (*lines[:half], f"… {len(lines) - 2 * half} lines …", *lines[-half:])


def _is_told(line: str, plot: Plot) -> bool:
    is_of_kind = not plot.events or any(f" {kind} " in line for kind in plot.events)
    return is_of_kind and all(f" {words} " in line for words in plot.words)


def addresses(files: Sequence[Path]) -> tuple[str, ...]:
    """A table of the packets that each address sent, in the form of Wireshark's IPv4 statistics.

    Rates are packets a millisecond from the first to the last one and, of a burst, over the 100 ms
    with the most packets; a burst starts so many seconds after the capture's first packet. Shares
    are of the packets of an end.
    """
    with trace.read([str(file) for file in files], packets=True) as found:
        view = trace.view(found)
        rows = [_ADDRESS_COLUMNS, *(_address(row, view.origin_ns) for row in _by_address(view))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return tuple(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


_ADDRESS_COLUMNS = ("IP", "count", "rate (1/ms)", "share", "burst rate", "burst start (s)")


def _by_address(view: trace.View) -> list[dict[str, Any]]:
    return sorted(view.addresses.to_dicts(), key=lambda row: -int(row["packets"]))


def _address(row: dict[str, Any], origin_ns: int) -> tuple[str, ...]:
    rate = row["packets_per_ms"]
    return (
        row["address"],
        str(row["packets"]),
        "–" if rate is None else f"{rate:.4f}",
        f"{row['share']:.2%}",
        f"{row['burst_packets_per_ms']:.4f}",
        f"{(row['burst_start_ns'] - origin_ns) / 1e9:.3f}",
    )
