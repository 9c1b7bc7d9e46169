"""How a figure or a statement stands to the document's, and the rule that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from mptcplab.metrics import Estimate
from mptcplab.metrics.noise import SMALLEST_DIFFERENCE
from mptcplab.report.numbers import number
from mptcplab.reproduction.expected import MARGIN, WIDEST, ByFigure, Expected

AGREEMENT = 0.1
"""Part of the document's figure by which ours may differ from it and agree."""
SHORTEST_REASON = 20
"""Characters of a note that gives a reason; a shorter one names a source."""
RULE = (
    f"A figure agrees if ours is within {100 * AGREEMENT:.0f} % of the document's; where the "
    "document says only that it is less than a figure, if ours is no more than that. A sentence of "
    "the document agrees if the finding beside it holds in what was measured here; one that says "
    f"that something is more or less, if that is by {100 * SMALLEST_DIFFERENCE:.0f} % and, where "
    "there are several runs, beyond chance (95 %). A difference is explained if a note says why, "
    f"and our figures are those that it was written for: to {100 * MARGIN:.0f} % beyond their "
    "interval. On a kernel what remains differs perhaps by chance, where the interval of ours "
    f"reaches that of the expected figure or, taken as {100 * WIDEST:.0f} % at most, a figure that "
    "would agree. The same rule is applied to every cell."
)


class Mark(StrEnum):
    """How a figure or a statement stands to the document's."""

    AGREES = "agrees"
    INPUT = "input"
    """The document's figure went into the scenario: that ours is the same shows nothing."""
    DIFFERS = "differs"
    """A note says why, and our figure is the one that it is about."""
    UNCHECKED = "differs, figure not expected"
    """A note says why; no figure is known for runs of this length, seed and engine."""
    UNDECIDED = "differs, perhaps by chance"
    """Of runs on a kernel, whose interval reaches a figure that would agree or be expected."""
    UNEXPECTED = "differs, and not as explained"
    UNEXPLAINED = "differs, no reason given"
    INCOMPARABLE = "cannot be compared"
    MISSING = "not measured"


SIGNS = {
    Mark.AGREES: "=",
    Mark.INPUT: "←",
    Mark.DIFFERS: "≠",
    Mark.UNCHECKED: "≠?",
    Mark.UNDECIDED: "~",
    Mark.UNEXPECTED: "✗✗",
    Mark.UNEXPLAINED: "✗",
    Mark.INCOMPARABLE: "–",
    Mark.MISSING: "?",
}
"""A sign for each mark, which a colour only repeats."""
RED = (Mark.UNEXPECTED, Mark.UNEXPLAINED)
"""Marks that nothing excuses."""


def agrees(theirs: float, ours: float, *, at_most: bool = False) -> bool:
    """The rule for figures."""
    return ours <= theirs if at_most else abs(ours - theirs) <= AGREEMENT * abs(theirs)


@dataclass(frozen=True)
class Checked:
    """A figure of ours that differs, or that a statement which differs rests on."""

    name: str
    """As in the files of expected figures."""
    ours: Estimate
    expected: Expected | None
    """Null: none is known, or no difference was expected."""
    theirs: float | None = None
    """The document's."""

    @property
    def is_as_expected(self) -> bool:
        """Whether it is the figure that an explanation is about."""
        return self.expected is not None and self.expected.holds(self.ours.mean, self.theirs)

    @property
    def told(self) -> str:
        """In words: what was expected in its place."""
        if self.expected is None:
            return "no difference was expected"
        bounds = self.expected.bounds(self.theirs)
        if bounds is None:
            return "none was expected"
        return f"{number(bounds[0])} to {number(bounds[1])} was expected"


def checked(
    name: str, ours: Estimate, expected: ByFigure | None, theirs: float | None = None
) -> Checked:
    """A figure beside the one that is expected."""
    return Checked(name, ours, (expected or {}).get(name), theirs)


def of_difference(note: str, figures: Iterable[Checked], expected: ByFigure | None) -> Mark:
    """The mark of what differs.

    Args:
        note: why it differs.
        figures: ours that the difference rests on.
        expected: figures that are expected of the scenario; null where none were measured.

    """
    if len(note) < SHORTEST_REASON:
        return Mark.UNEXPLAINED
    if expected is None:
        return Mark.UNCHECKED
    return Mark.DIFFERS if all(one.is_as_expected for one in figures) else Mark.UNEXPECTED
