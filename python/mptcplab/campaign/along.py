"""Where the values of a sweep's axes stand, and how its metrics are named, in every plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from mptcplab.report.numbers import heading
from mptcplab.scenario.units import UnitError, parse_rate, parse_size, parse_time

MOST_PANELS = 6
"""Choices of the other axes that are shown; a plot has to stay readable."""
LOG_FROM = 20.0
"""Ratio of the ends of an axis from which its scale is logarithmic."""
MOST_NAMES = 8
BENEFITS = ("aggregation_benefit", "delay_benefit")


def label_of(metric: str) -> str:
    """A metric's title and unit."""
    name, unit = heading(metric)
    return f"{name} in {unit}" if unit else name


def has(frame: pl.DataFrame, variant: str, metric: str) -> bool:
    """Whether the variant has the metric at some point."""
    return frame.filter(variant=variant)[metric].drop_nulls().len() > 0


def places_of(values: Sequence[Any]) -> list[float]:
    """Where the values stand: to scale where all are quantities of one kind, else side by side."""
    for parse in (_number, parse_time, parse_rate, parse_size):
        try:
            return [float(parse(value)) for value in values]
        except (UnitError, ValueError, TypeError):
            continue
    return [float(place) for place in range(len(values))]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return float(value.removesuffix("%") if isinstance(value, str) else value)


def parts_of(frame: pl.DataFrame, others: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The rows by the choice of these keys, in words; as many as there is room for."""
    if not others:
        return {"": frame}
    parts = {}
    for values, part in frame.group_by(list(others), maintain_order=True):
        words = ", ".join(f"{key} {value}" for key, value in zip(others, values, strict=True))
        parts[words] = part
        if len(parts) == MOST_PANELS:
            break
    return parts


def named(values: Sequence[Any]) -> tuple[list[int], list[str]]:
    """Places of values that get a name, and the names."""
    step = -(-len(values) // MOST_NAMES)
    chosen = list(range(0, len(values), step))
    return chosen, [str(values[place]) for place in chosen]
