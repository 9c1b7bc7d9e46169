"""Figures and sizes as words."""

from __future__ import annotations

from collections.abc import Sequence

from mptcplab.metrics.statistics import Estimate

UNKNOWN = "–"


def shown(one: Estimate | None) -> str:
    """Mean ± half of the interval, of three digits and two."""
    if one is None or one.mean is None:
        return UNKNOWN
    half = one.half_width
    text = digits(one.mean, 3)
    return (text if half is None else f"{text} ± {digits(half, 2)}").replace("-", "−")


def digits(value: float, count: int) -> str:
    """So many significant digits; all of those before the point, without a power of ten."""
    if abs(value) >= 10 ** (count - 1):
        return f"{value:.0f}"
    return f"{value:.{count}g}"


def size_words(size_bytes: int) -> str:
    """`300 kB`."""
    for factor, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size_bytes >= factor:
            return f"{digits(size_bytes / factor, 3)} {unit}"
    return f"{size_bytes} B"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
