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


COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")
"""Okabe and Ito, Color Universal Design, 2008, without the yellow that is lost on white."""
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v")


def styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name, the same for the same names in the same order.

    Colours, dashes and markers repeat at different lengths, so that 140 names stay apart.
    """
    return {
        name: Style(
            COLOURS[place % len(COLOURS)],
            _DASHES[place % len(_DASHES)],
            _MARKERS[place % len(_MARKERS)],
        )
        for place, name in enumerate(dict.fromkeys(names))
    }
