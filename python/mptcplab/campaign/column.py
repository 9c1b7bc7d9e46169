"""The values of an axis as cells of one column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mptcplab.scenario.sweep import Axis

_PLAIN = (bool, int, float, str)


def column_of(values: Sequence[Any]) -> list[Any]:
    """The values as they are where all are of one kind, numbers of both kinds as floats, else text.

    A column of a data frame has one kind: `0` beside `0.1 %`, or `fullmesh` beside
    `{ndiffports: 3}`, would be converted, or refused.
    """
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return [float(value) for value in values]
    if len(kinds) == 1 and kinds.issubset(_PLAIN):
        return list(values)
    return [str(value) for value in values]


def rows_of(axis: Axis) -> list[tuple[Any, ...]]:
    """The rows of an axis, each column as in a data frame."""
    columns = map(column_of, zip(*axis.rows, strict=True))
    return list(zip(*columns, strict=True))


def row_words(row: Sequence[Any]) -> str:
    """The values, or the keys, of a row as they are shown."""
    return " with ".join(map(str, row))
