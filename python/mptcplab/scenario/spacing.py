"""Values between two ends, as texts that a scenario reads: rates, times, sizes, shares, numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
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
_WITH_UNIT = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]{1,2})?)\s*([^\s0-9.].*)")


@dataclass(frozen=True)
class Scale:
    """A kind of values as positions on a line."""

    position: Callable[[Any], float]
    value: Callable[[float], Any]
    """The value at a position, in `DIGITS` digits."""


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
        return Scale(float, round)
    if all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return Scale(float, _rounded)
    found = [_WITH_UNIT.fullmatch(end.strip()) if isinstance(end, str) else None for end in ends]
    units = {None if one is None else one[2] for one in found}
    if len(units) == 1 and None not in units:
        (unit,) = units
        return Scale(_number, lambda at: f"{_rounded(at):g} {unit}")
    raise ValueError("the ends are two numbers, or two quantities of one kind: 1 ms and 2 s, say")


def spaced(first: object, last: object, count: int, *, is_log: bool) -> list[Any]:
    """So many values from the first to the last, both as they are, evenly or by equal factors.

    Raises:
        ValueError: there is no such scale, or not so many different values on it.

    """
    scale = scale_of(first, last)
    low, high = scale.position(first), scale.position(last)
    if is_log:
        low, high = _logarithms(low, high)
    step = (high - low) / (count - 1)
    inner = [low + step * number for number in range(1, count - 1)]
    made = [first, *(scale.value(math.exp(at) if is_log else at) for at in inner), last]
    if len({repr(value) for value in made}) < count:
        raise ValueError(f"there are not {count} different values between {first} and {last}")
    return made


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
    return Scale(parse, lambda at: form(round(_rounded(at))))


def _logarithms(low: float, high: float) -> tuple[float, float]:
    if low <= 0 or high <= 0:
        raise ValueError("a logarithmic scale has no 0: both ends are above it")
    return math.log(low), math.log(high)


def _number(value: Any) -> float:
    found = _WITH_UNIT.fullmatch(value.strip())
    assert found is not None
    return float(found[1])


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
