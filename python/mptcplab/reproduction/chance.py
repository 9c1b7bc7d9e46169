"""Whether what runs on a kernel show may be chance: they never come out the same twice."""

from __future__ import annotations

from collections.abc import Iterable

from mptcplab.metrics import Estimate
from mptcplab.reproduction.expected import WIDEST
from mptcplab.reproduction.marks import Checked, Mark, agrees


def perhaps_by_chance(mark: Mark, figures: Iterable[Checked], *, may_agree: bool) -> Mark:
    """The mark of what is red, unless it may agree, or its figures may be those of its reason."""
    has_reason = mark is Mark.UNEXPECTED
    may_be = may_agree or (has_reason and all(_may_be_expected(one) for one in figures))
    return Mark.UNDECIDED if may_be else mark


def may_agree(theirs: float, ours: Estimate, *, at_most: bool) -> bool:
    """Whether the interval of ours reaches figures that would agree with the document's.

    One that is wide counts as `WIDEST` at most.
    """
    if ours.mean is None or ours.half_width is None:
        return False
    half = min(ours.half_width, WIDEST * abs(ours.mean))
    nearest = min(max(theirs, ours.mean - half), ours.mean + half)
    return agrees(theirs, nearest, at_most=at_most)


def may_be_equal(apart: Estimate, largest: float) -> bool:
    """Whether two sides of a finding may be equal, for all that their runs show.

    Args:
        apart: the left side less the right one.
        largest: the largest figure that the sides are made of; what is further apart than `WIDEST`
            of it is not taken for chance.

    """
    if apart.mean is None or apart.ci95 is None:
        return False
    return apart.ci95[0] <= 0 <= apart.ci95[1] and abs(apart.mean) <= WIDEST * largest


def _may_be_expected(one: Checked) -> bool:
    """Whether the interval of ours reaches that of the expected figure, however wide both are.

    A cell may be chaotic on a kernel, such as one that comes out at 0.4 or 8 Mbit/s.
    """
    expected, ours = one.expected, one.ours
    if one.is_as_expected or expected is None or expected.mean is None or ours.mean is None:
        return one.is_as_expected
    apart = expected.margin(one.theirs) + expected.half_width + (ours.half_width or 0)
    return abs(ours.mean - expected.mean) <= apart
