"""Values between two ends, as texts that a scenario reads: rates, times, sizes, shares, numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mptcplab.scenario.units import (
    UnitError,
    format_rate,
    format_size,
    format_time,
    parse_rate,
    parse_size,
    parse_time,
)

DIGITS = 4
"""Significant digits of what is computed, so that tables and commands stay short."""
MOST_DIGITS = 15
"""Digits of a range whose values would be equal with fewer; a float holds as many."""
_WITH_UNIT = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]{1,2})?)\s*([^\s0-9.].*)")


@dataclass(frozen=True)
class Scale:
    """A kind of values as positions on a line."""

    position: Callable[[Any], float]
    rounded: Callable[[float, int], float]
    """The position that a value of so many digits has, near another one."""
    form: Callable[[float, int], Any]
    """The value at such a position."""

    def value(self, at: float, digits: int = DIGITS) -> Any:
        """The value at a position, in so many digits."""
        return self.form(self.rounded(at, digits), digits)


def scale_of(*ends: object) -> Scale:
    """The kind that all these values are of.

    Raises:
        ValueError: they are of different kinds, or of one that has no order.

    """
    for parse, form in (
        (parse_time, format_time),
        (parse_rate, format_rate),
        (parse_size, format_size),
    ):
        try:
            for end in ends:
                parse(end)
        except UnitError:
            continue
        return _whole_units(parse, form)
    if all(isinstance(end, int) and not isinstance(end, bool) for end in ends):
        return Scale(float, lambda at, _: round(at), lambda at, _: at)
    if all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return Scale(float, _rounded, lambda at, _: at)
    found = [_WITH_UNIT.fullmatch(end.strip()) if isinstance(end, str) else None for end in ends]
    units = {None if one is None else one[2] for one in found}
    if len(units) == 1 and None not in units:
        (unit,) = units
        # Six digits are those of a plain `:g`.
        return Scale(_number, _rounded, lambda at, digits: f"{at:.{max(digits, 6)}g} {unit}")
    raise ValueError("the ends are two numbers, or two quantities of one kind: 1 ms and 2 s, say")


def spaced(first: object, last: object, count: int, *, is_log: bool) -> list[Any]:
    """So many values from the first to the last, both as they are, evenly or by equal factors.

    They have `DIGITS` digits, or as many more as it takes to have each beyond the one before.

    Raises:
        ValueError: there is no such scale, or not so many different values on it.

    """
    scale = scale_of(first, last)
    low, high = scale.position(first), scale.position(last)
    start, end = _logarithms(low, high) if is_log else (low, high)
    step = (end - start) / (count - 1)
    inner = [start + step * number for number in range(1, count - 1)]
    if is_log:
        inner = [math.exp(at) for at in inner]
    for digits in range(DIGITS, MOST_DIGITS + 1):
        rounded = [scale.rounded(at, digits) for at in inner]
        if _is_in_order([low, *rounded, high]):
            return [first, *(scale.form(at, digits) for at in rounded), last]
    raise ValueError(f"there are not {count} different values between {first} and {last}")


def between(low: object, high: object, *, is_log: bool) -> Callable[[float], Any]:
    """Gives the value at a share (0 to 1) of the way from one end to the other.

    Raises:
        ValueError: there is no such scale.

    """
    scale = scale_of(low, high)
    start, end = scale.position(low), scale.position(high)
    if not is_log:
        return lambda share: scale.value(start + share * (end - start))
    start, end = _logarithms(start, end)
    return lambda share: scale.value(math.exp(start + share * (end - start)))


def _whole_units(parse: Callable[[Any], int], form: Callable[[int], str]) -> Scale:
    return Scale(
        parse,
        lambda at, digits: round(_rounded(at, digits)),
        lambda at, _: form(int(at)),
    )


def _is_in_order(positions: Sequence[float]) -> bool:
    """Whether each is above the one before, or each below it."""
    up = positions[-1] > positions[0]
    return all(
        (after > before) if up else (after < before) for before, after in pairwise(positions)
    )


def _logarithms(low: float, high: float) -> tuple[float, float]:
    if low <= 0 or high <= 0:
        raise ValueError("a logarithmic scale has no 0: both ends are above it")
    return math.log(low), math.log(high)


def _number(value: Any) -> float:
    found = _WITH_UNIT.fullmatch(value.strip())
    assert found is not None
    return float(found[1])


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
