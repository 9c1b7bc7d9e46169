"""Rows of tables, grouped and summed. A recording in memory has them without a data frame."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
"""Column → value; null where the recording does not know it."""


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """The rows by their values of these columns, in order of mention."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple([row[column] for column in columns]), []).append(row)
    return groups


def known(rows: Iterable[Row], column: str) -> list[Any]:
    """The values of a column that are not null."""
    return [row[column] for row in rows if row[column] is not None]


def total(rows: Iterable[Row], column: str) -> int:
    """Sum of the values of a column that are not null."""
    return sum(known(rows, column))


def larger(one: int | None, other: int | None) -> int | None:
    """The larger of two counters, of which the unknown are passed over."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def known_sum(values: Sequence[int | None]) -> int | None:
    """Sum of the counters that are known; null where none is."""
    there = [value for value in values if value is not None]
    return sum(there) if there else None
