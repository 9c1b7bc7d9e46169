"""Times and amounts as the pages show them."""

from __future__ import annotations

import time

LATEST_MS = 253_402_300_799_000
"""The end of the year 9999."""


def moment(unix_ms: int | None) -> str:
    """`2026-11-29 10:05`, UTC; a clock may be wrong by any number."""
    if unix_ms is None or unix_ms > LATEST_MS:
        return "–"
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(unix_ms / 1e3))


def ago(unix_ms: int | None, now_ms: int) -> str:
    """`5 min ago`; the largest unit of which there are two or more."""
    if unix_ms is None:
        return "never"
    if unix_ms > now_ms + 60_000:
        return "in the future"
    return f"{period((now_ms - unix_ms) // 1_000)} ago"


def period(seconds: int) -> str:
    """`90 s`, `5 min`, `30 h`, `12 days`."""
    whole = max(seconds, 0)
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if whole >= 2 * length:
            return f"{whole // length} {unit}"
    return f"{whole} s"


def count(number: int) -> str:
    """With a space after the thousands."""
    return f"{number:,}".replace(",", "\u202f")
