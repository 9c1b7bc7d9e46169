"""The values of an axis as cells of one column of a table."""

from collections.abc import Sequence
from typing import Any

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
