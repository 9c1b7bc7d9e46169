"""The document's figures beside ours, and whether they agree: pure comparison, by one rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mptcplab.metrics import Estimate
from mptcplab.metrics.definitions import RECOVERY
from mptcplab.metrics.noise import Samples, difference, doubt
from mptcplab.metrics.statistics import estimate
from mptcplab.report.numbers import estimate_shown, number, shown
from mptcplab.reproduction.chance import may_agree, may_be_equal, perhaps_by_chance
from mptcplab.reproduction.expected import ByFigure
from mptcplab.reproduction.figures import Figures, figure_of
from mptcplab.reproduction.marks import RED, Checked, Mark, agrees, checked, of_difference
from mptcplab.reproduction.model import Document, Item, Measured, Statement, Statistic
from mptcplab.reproduction.needs import BENEFITS, named
from mptcplab.scenario import Scenario
from mptcplab.scenario.expectation import (
    Comparison,
    Finding,
    Lookup,
    Name,
    evaluate,
    holds,
    names_in,
    parse,
    parse_expression,
    value_of,
)
from mptcplab.scenario.quantity import parse_quantity


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
    checked: Checked | None = None
    """Where they differ: ours beside the figure that the note is about."""

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
    checked: tuple[Checked, ...] = ()
    """Where the finding does not hold: the figures that it speaks of, beside those that the note is
    about."""


@dataclass(frozen=True)
class ItemAccount:
    """A table, figure or listing with our figures."""

    item: Item
    rows: tuple[tuple[str | Figure, ...], ...]
    says: tuple[Said, ...]
    warnings: tuple[str, ...] = ()
    """Of the runs that the figures are from, a line each."""

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
    """A scenario, its figures, and what an engine refuses of it."""

    scenario: Scenario
    figures: Figures
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Why the engine does not run a variant, by its name."""
    expected: ByFigure | None = None
    """Figures that differ, as they are known; null where it was never measured in this manner."""

    def has_chance(self, names: Iterable[Name]) -> bool:
        """Whether these figures come out otherwise each time: a seed decides simulated ones."""
        return not all(self.figures[name.variant].are_simulated for name in names)

    def refusal(self, names: Iterable[Name]) -> str:
        """Why the engine does not run what these figures are made of; empty where it does."""
        variants = self.scenario.variants
        needed: set[str] = set()
        for name in names:
            needed.add(name.variant)
            if name.metric in BENEFITS:
                needed |= {one for one, own in variants.items() if own.protocol == "tcp"}
        reasons = [reason for variant, reason in self.refusals.items() if variant in needed]
        return " ".join(dict.fromkeys(reasons))


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
        tuple(dict.fromkeys(_warnings(item, known))),
    )


def _warnings(item: Item, known: Mapping[str, Known]) -> Iterator[str]:
    for scenario, variants in named(item):
        for name, found in known[scenario].figures.items():
            if name in variants or "*" in variants:
                yield from (f"{scenario} {name}, {warning}" for warning in found.warnings)


def figure(cell: Measured, known: Known) -> Figure:
    """A cell's figures and how they compare."""
    theirs, note, is_input = _theirs(cell, known.scenario)
    metric = _metric(cell)
    if refusal := known.refusal(names_in(parse_expression(cell.here))):
        return Figure(cell, metric, theirs, None, Mark.INCOMPARABLE, refusal)
    ours = figure_of(cell, known.figures)
    reason = cell.incomparable or note
    if ours is None:
        return Figure(cell, metric, theirs, ours, Mark.MISSING, reason)
    if cell.incomparable or theirs is None:
        reason = reason or "the document gives no figure"
        return Figure(cell, metric, theirs, ours, Mark.INCOMPARABLE, reason)
    if _is_partial(metric, ours) and known.expected is not None:
        return Figure(cell, metric, theirs, ours, Mark.UNEXPECTED, "not all repetitions have it")
    if ours.mean is not None and agrees(theirs, ours.mean, at_most=cell.at_most):
        mark = Mark.INPUT if is_input else Mark.AGREES
        return Figure(cell, metric, theirs, ours, mark, reason)
    one = checked(cell.name, ours, known.expected, theirs)
    mark = of_difference(note, [one], known.expected)
    if mark in RED and known.has_chance(names_in(parse_expression(cell.here))):
        has_interval = cell.statistic is Statistic.MEAN and not cell.repetition
        may_be = not has_interval or may_agree(theirs, ours, at_most=cell.at_most)
        mark = perhaps_by_chance(mark, [one], may_agree=may_be)
    return Figure(cell, metric, theirs, ours, mark, reason, one)


def _is_partial(metric: str, ours: Estimate) -> bool:
    """Whether the mean leaves repetitions out; that of a recovery never does."""
    return 0 < ours.known < len(ours.samples) and not metric.startswith(RECOVERY)


def said(statement: Statement, known: Known | None) -> Said:
    """How a statement's finding came out."""
    if not statement.finding or known is None:
        return Said(statement, Mark.INCOMPARABLE, "", statement.note)
    finding = parse(statement.finding)
    if refusal := known.refusal(finding.names()):
        return Said(statement, Mark.INCOMPARABLE, "", refusal)
    if any(name.variant not in known.figures for name in finding.names()):
        return Said(statement, Mark.MISSING, "", "")

    def value(variant: str, metric: str) -> float | None:
        found = known.figures[variant].metrics.get(metric)
        return None if found is None else found.mean

    apart = _apart(finding, known.figures)
    held = evaluate(finding, value)
    sides = " and ".join(_sides(one, value) for one in finding.comparisons)
    chance = _doubt(finding, apart, value) if held else None
    if held and chance is None:
        mark = Mark.INPUT if statement.input else Mark.AGREES
        return Said(statement, mark, sides, "")
    own = _spoken_of(finding, known)
    mark = of_difference(statement.note, own, known.expected)
    if mark in RED and known.has_chance(finding.names()):
        mark = perhaps_by_chance(mark, own, may_agree=_may_hold(finding, apart, value))
    told = f"{sides}, but {chance}" if chance else sides
    return Said(statement, mark, told, statement.note, own)


def _apart(finding: Finding, found: Figures) -> list[Estimate]:
    """The left side less the right one, a figure a comparison."""

    def samples(variant: str, metric: str) -> Samples:
        return found[variant].samples(metric)

    own = [found[name.variant] for name in finding.names()]
    same, simulated = all(one.are_one_run for one in own), all(one.are_simulated for one in own)
    return [
        difference(one, samples, are_one_run=same, are_simulated=simulated)
        for one in finding.comparisons
    ]


def _doubt(finding: Finding, apart: Sequence[Estimate], value: Lookup) -> str | None:
    """Why a finding that the means confirm may be chance; null where it is not."""
    for one, between in zip(finding.comparisons, apart, strict=True):
        left, right = value_of(one.left, value), value_of(one.right, value)
        assert left is not None
        assert right is not None
        if reason := doubt(one, left, right, between):
            return reason
    return None


def _may_hold(finding: Finding, apart: Sequence[Estimate], value: Lookup) -> bool:
    """Whether every comparison that does not hold fails by no more than chance."""
    for one, between in zip(finding.comparisons, apart, strict=True):
        held = holds(one, value)
        names = [*names_in(one.left), *names_in(one.right)]
        largest = max(abs(value(name.variant, name.metric) or 0) for name in names)
        if held is None or (not held and not may_be_equal(between, largest)):
            return False
    return True


def _spoken_of(finding: Finding, known: Known) -> tuple[Checked, ...]:
    """The figures of a finding beside those that are expected."""
    return tuple(
        checked(
            f"{name.variant}.{name.metric}",
            known.figures[name.variant].metrics.get(name.metric, estimate([])),
            known.expected,
        )
        for name in dict.fromkeys(finding.names())
    )


def _sides(comparison: Comparison, value: Lookup) -> str:
    left, right = value_of(comparison.left, value), value_of(comparison.right, value)
    sign = comparison.sign
    told = sign if holds(comparison, value) is not False else f", not {sign}"
    return f"{number(left)} {told} {number(right)}".replace(" ,", ",")


def _theirs(cell: Measured, scenario: Scenario) -> tuple[float | None, str, bool]:
    """The document's figure, why ours differs from it, and whether it went into the scenario."""
    if cell.document is not None:
        return parse_quantity(cell.document).value, cell.note, cell.input
    expression = parse_expression(cell.here)
    if isinstance(expression, Name) and cell.statistic is Statistic.MEAN and not cell.repetition:
        for entry in scenario.reference:
            if (entry.variant, entry.metric) == (expression.variant, expression.metric):
                return entry.value.value, cell.note or entry.note, entry.input
    return None, cell.note, cell.input


def _metric(cell: Measured) -> str:
    """The metric whose unit a cell's figures are shown in."""
    if isinstance(cell.document, str) and cell.document.endswith("%"):
        return "share"
    names = [name.metric for name in names_in(parse_expression(cell.here))]
    return names[0] if names else ""


def _text(cell: str | float) -> str:
    return cell if isinstance(cell, str) else f"{cell:g}"
