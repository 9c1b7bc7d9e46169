"""Rate traces in Mahimahi's format.

Each line holds a time in milliseconds since the start: an opportunity to deliver 1504 bytes then
(Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015; `mm-link(1)`).
"""

from __future__ import annotations

from pathlib import Path

from mptcplab.scenario.fields import LARGEST_RATE_BPS
from mptcplab.scenario.units import format_rate
from mptcplab.user_file import FileError, read_text

OPPORTUNITY_BYTES = 1504
LARGEST_FILE_BYTES = 16 * 1024 * 1024
MOST_IN_A_MS = LARGEST_RATE_BPS // (OPPORTUNITY_BYTES * 8 * 1000)
"""Opportunities of a millisecond that amount to the largest rate."""


class TraceError(ValueError):
    """A trace that cannot be replayed; the text names the line."""


def parse_trace(text: str, name: str) -> list[int]:
    """Times of the opportunities in milliseconds, in order."""
    times: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        word = line.strip()
        if not word:
            continue
        if not (word.isascii() and word.isdigit()) or len(word) > 12:
            raise TraceError(f"{name}:{number}: is no time in milliseconds, such as 25")
        time_ms = int(word)
        if times and time_ms < times[-1]:
            raise TraceError(f"{name}:{number}: is earlier than the line before it")
        times.append(time_ms)
        if len(times) > MOST_IN_A_MS and times[-1 - MOST_IN_A_MS] == time_ms:
            raise TraceError(
                f"{name}:{number}: more than {MOST_IN_A_MS} lines for {time_ms} ms: "
                f"the largest rate is {format_rate(LARGEST_RATE_BPS)}"
            )
    if not times:
        raise TraceError(f"{name}: holds no time")
    if times[-1] == 0:
        raise TraceError(f"{name}: ends at 0 ms; its last time is its length")
    return times


def read_trace(path: Path, name: str) -> list[int]:
    """Reads a trace's file, called `name` in messages."""
    try:
        return parse_trace(read_text(path, LARGEST_FILE_BYTES, "ascii"), name)
    except FileError as error:
        raise TraceError(f"{name}: {error}") from None


def mean_rate_bps(opportunities_ms: list[int]) -> int:
    """Bits a second over one length of the trace."""
    return len(opportunities_ms) * OPPORTUNITY_BYTES * 8 * 1000 // opportunities_ms[-1]
