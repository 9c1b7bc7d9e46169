"""Periods as operators write them: `10 min`, `1 h`, `400d`."""

from __future__ import annotations

import re

from mptcplab.scenario.units import UnitError

_UNITS_S = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
_PERIOD = re.compile(r"([0-9]{1,10})\s*([a-z]+)")
LONGEST_S = 100 * 366 * 86_400


def parse_period(text: object) -> int:
    """Seconds of `1 h`.

    Raises:
        UnitError: it is none, or longer than a hundred years.

    """
    found = _PERIOD.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None or found[2] not in _UNITS_S:
        raise UnitError('not a period: write "10 min", "1 h" or "7 d"')
    seconds = int(found[1]) * _UNITS_S[found[2]]
    if seconds > LONGEST_S:
        raise UnitError("longer than a hundred years")
    return seconds


def period_words(seconds: int) -> str:
    """`90 min`: in the largest unit that divides it."""
    for unit, length_s in reversed(_UNITS_S.items()):
        if seconds % length_s == 0 and seconds >= length_s:
            return f"{seconds // length_s} {unit}"
    return f"{seconds} s"
