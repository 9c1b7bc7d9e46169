"""The document's figures beside ours, and whether they agree: pure comparison, by one rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mptcplab.metrics import Estimate
from mptcplab.metrics.definitions import RECOVERY
from mptcplab.report.numbers import estimate_shown, number, shown
from mptcplab.reproduction.figures import Figures, figure_of
from mptcplab.reproduction.model import Document, Item, Measured, Statement, Statistic
from mptcplab.scenario import Scenario
from mptcplab.scenario.expectation import (
    Comparison,
    Name,
    evaluate,
    holds,
    names_in,
    parse,
    parse_expression,
    value_of,
)
from mptcplab.scenario.quantity import parse_quantity

AGREEMENT = 0.1
"""Part of the document's figure by which ours may differ from it and agree."""
SHORTEST_REASON = 20
"""Characters of a note that gives a reason; a shorter one names a source."""
RULE = (
    f"A figure agrees if ours is within {100 * AGREEMENT:.0f} % of the document's; where the "
    "document says only that it is less than a figure, if ours is no more than that. A sentence of "
    "the document agrees if the finding beside it holds in what was measured here. The same rule "
    "is applied to every cell."
)


class Mark(StrEnum):
    """How a figure or a statement stands to the document's."""

    AGREES = "agrees"
    DIFFERS = "differs"
    """And a note says why."""
    UNEXPLAINED = "differs, no reason given"
    INCOMPARABLE = "cannot be compared"
    MISSING = "not measured"


SIGNS = {
    Mark.AGREES: "=",
    Mark.DIFFERS: "≠",
    Mark.UNEXPLAINED: "✗",
    Mark.INCOMPARABLE: "–",
    Mark.MISSING: "?",
}
"""A sign for each mark, which a colour only repeats."""


@dataclass(frozen=True)
class Figure:
    """A cell with a figure."""

    cell: Measured
    metric: str
    """The metric that the figure is shown as."""
    theirs: float | None
    """In the unit of the metric; null where the document has none."""
    ours: Estimate | None
    """Null where it was not measured."""
    mark: Mark
    note: str
    """Why they differ, or cannot be compared; also what a reader has to know where they agree."""

    @property
    def theirs_shown(self) -> str:
        """The document's figure, without its unit."""
        sign = "< " if self.cell.at_most else ""
        return f"{sign}{shown(self.metric, self.theirs)}"

    @property
    def ours_shown(self) -> str:
        """Our figure ± half its 95 % confidence interval, without the unit."""
        return estimate_shown(self.metric, self.ours)


@dataclass(frozen=True)
class Said:
    """A statement, and how its finding came out."""

    statement: Statement
    mark: Mark
    sides: str
    """The figures that were compared; empty where none were."""
    note: str


@dataclass(frozen=True)
class ItemAccount:
    """A table, figure or listing with our figures."""

    item: Item
    rows: tuple[tuple[str | Figure, ...], ...]
    says: tuple[Said, ...]

    def marks(self) -> list[Mark]:
        """The mark of each figure and statement."""
        own = [cell.mark for row in self.rows for cell in row if isinstance(cell, Figure)]
        return [*own, *(said.mark for said in self.says)]


@dataclass(frozen=True)
class Account:
    """A document with our figures."""

    document: Document
    items: tuple[ItemAccount, ...]

    def counts(self) -> Counter[Mark]:
        """How many figures and statements have each mark."""
        return Counter(mark for item in self.items for mark in item.marks())


@dataclass(frozen=True)
class Known:
    """A scenario, its figures, and why an engine refuses it."""

    scenario: Scenario
    figures: Figures
    refusal: str = ""


def account(document: Document, known: Mapping[str, Known]) -> Account:
    """Puts our figures beside the document's."""
    return Account(document, tuple(_item(item, known) for item in document.items))


def _item(item: Item, known: Mapping[str, Known]) -> ItemAccount:
    return ItemAccount(
        item,
        tuple(
            tuple(
                figure(cell, known[cell.scenario]) if isinstance(cell, Measured) else _text(cell)
                for cell in row
            )
            for row in item.rows
        ),
        tuple(said(one, known.get(one.scenario)) for one in item.says),
    )


def figure(cell: Measured, known: Known) -> Figure:
    """A cell's figures and how they compare."""
    theirs, note = _theirs(cell, known.scenario)
    ours = None if known.refusal else figure_of(cell, known.figures)
    mark = _mark(cell, theirs, ours, note, known.refusal)
    reason = known.refusal or cell.incomparable or note
    if mark is Mark.INCOMPARABLE and not reason:
        reason = "the document gives no figure"
    return Figure(cell, _metric(cell), theirs, ours, mark, reason)


def _mark(
    cell: Measured, theirs: float | None, ours: Estimate | None, note: str, refusal: str
) -> Mark:
    if refusal or cell.incomparable or theirs is None:
        return Mark.INCOMPARABLE
    if ours is None or (not ours.known and not _never_came(cell, ours)):
        return Mark.MISSING
    if ours.mean is not None and agrees(theirs, ours.mean, at_most=cell.at_most):
        return Mark.AGREES
    return _differs(note)


def _never_came(cell: Measured, ours: Estimate) -> bool:
    """Whether a recovery was waited for and did not come: that is a figure, too."""
    return _metric(cell).startswith(RECOVERY) and bool(ours.samples)


def _differs(note: str) -> Mark:
    return Mark.DIFFERS if len(note) >= SHORTEST_REASON else Mark.UNEXPLAINED


def agrees(theirs: float, ours: float, *, at_most: bool = False) -> bool:
    """The rule for figures."""
    return ours <= theirs if at_most else abs(ours - theirs) <= AGREEMENT * abs(theirs)


def said(statement: Statement, known: Known | None) -> Said:
    """How a statement's finding came out."""
    if not statement.finding or known is None:
        return Said(statement, Mark.INCOMPARABLE, "", statement.note)
    if known.refusal:
        return Said(statement, Mark.INCOMPARABLE, "", known.refusal)
    finding = parse(statement.finding)
    if any(name.variant not in known.figures for name in finding.names()):
        return Said(statement, Mark.MISSING, "", "")

    def value(variant: str, metric: str) -> float | None:
        found = known.figures[variant].metrics.get(metric)
        return None if found is None else found.mean

    held = evaluate(finding, value)
    sides = " and ".join(_sides(one, value) for one in finding.comparisons)
    if held is None:
        return Said(statement, Mark.MISSING, sides, "")
    if held:
        return Said(statement, Mark.AGREES, sides, "")
    return Said(statement, _differs(statement.note), sides, statement.note)


def _sides(comparison: Comparison, value: object) -> str:
    left, right = value_of(comparison.left, value), value_of(comparison.right, value)  # type: ignore[arg-type]
    sign = comparison.sign
    told = sign if holds(comparison, value) is not False else f", not {sign}"  # type: ignore[arg-type]
    return f"{number(left)} {told} {number(right)}".replace(" ,", ",")


def _theirs(cell: Measured, scenario: Scenario) -> tuple[float | None, str]:
    """The document's figure, and why ours differs from it."""
    if cell.document is not None:
        return parse_quantity(cell.document).value, cell.note
    expression = parse_expression(cell.here)
    if isinstance(expression, Name) and cell.statistic is Statistic.MEAN and not cell.repetition:
        for entry in scenario.reference:
            if (entry.variant, entry.metric) == (expression.variant, expression.metric):
                return entry.value.value, cell.note or entry.note
    return None, cell.note


def _metric(cell: Measured) -> str:
    """The metric whose unit a cell's figures are shown in."""
    if isinstance(cell.document, str) and cell.document.endswith("%"):
        return "share"
    names = [name.metric for name in names_in(parse_expression(cell.here))]
    return names[0] if names else ""


def _text(cell: str | float) -> str:
    return cell if isinstance(cell, str) else f"{cell:g}"
