"""Colours and dashes that stay apart in print and for the colour-blind."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """How a line is drawn."""

    colour: str
    dashes: str
    """A line style of matplotlib."""
    marker: str


_STYLES = (
    Style("#0072B2", "-", "o"),
    Style("#E69F00", "--", "s"),
    Style("#009E73", "-.", "^"),
    Style("#D55E00", ":", "D"),
    Style("#CC79A7", "-", "v"),
    Style("#56B4E9", "--", "P"),
    Style("#000000", "-.", "X"),
)
"""Okabe and Ito, Color Universal Design, 2008, without the yellow that is lost on white."""


def styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name, the same for the same names in the same order."""
    distinct = dict.fromkeys(names)
    return {name: _STYLES[place % len(_STYLES)] for place, name in enumerate(distinct)}
