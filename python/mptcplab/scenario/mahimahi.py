"""Rate traces in Mahimahi's format.

Each line holds a time in milliseconds since the start: an opportunity to deliver 1504 bytes then
(Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015; `mm-link(1)`).
"""

from __future__ import annotations

from pathlib import Path

OPPORTUNITY_BYTES = 1504
LARGEST_FILE_BYTES = 16 * 1024 * 1024


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
            raise TraceError(f"{name}:{number}: {line.strip()[:40]!r} is no time in milliseconds")
        time_ms = int(word)
        if times and time_ms < times[-1]:
            raise TraceError(f"{name}:{number}: {time_ms} ms comes after {times[-1]} ms")
        times.append(time_ms)
    if not times:
        raise TraceError(f"{name}: holds no time")
    if times[-1] == 0:
        raise TraceError(f"{name}: ends at 0 ms; its last time is its length")
    return times


def read_trace(path: Path, name: str) -> list[int]:
    """Reads a trace's file, called `name` in messages."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise TraceError(f"{name}: larger than {LARGEST_FILE_BYTES // 2**20} MiB")
        return parse_trace(path.read_text(encoding="ascii", errors="replace"), name)
    except (OSError, ValueError) as error:
        if isinstance(error, TraceError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise TraceError(f"{name}: cannot be read ({reason})") from None


def mean_rate_bps(opportunities_ms: list[int]) -> int:
    """Bits a second over one length of the trace."""
    return len(opportunities_ms) * OPPORTUNITY_BYTES * 8 * 1000 // opportunities_ms[-1]
