"""The runs that tables and figures need, each once however many cells show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mptcplab.reproduction.model import CAPTURED, Document, Item, Plot
from mptcplab.scenario import Scenario
from mptcplab.scenario.expectation import Name, names_in, parse, parse_expression

BENEFITS = ("aggregation_benefit", "delay_benefit")
"""Metrics that are made of other variants' figures, too."""


@dataclass(frozen=True)
class Need:
    """Variants of a scenario that are run; with captures, apart from the others."""

    scenario: str
    variants: tuple[str, ...]
    captured_size: str | None = None
    """Of the bulk transfer of a captured run; null for one without captures."""
    repetitions: int = 0
    """At least so many, as a table has a row for each."""

    @property
    def folder(self) -> str:
        """Name of the folder of its result."""
        name = self.scenario.replace("/", "-")
        if self.captured_size is None:
            return name
        return f"{name}-captured-{self.captured_size.replace(' ', '')}"


def needs(document: Document) -> list[Need]:
    """The needs of a document's items, by scenario in the order of the items."""
    variants: dict[str, dict[str, None]] = {}
    repetitions: dict[str, int] = {}
    captured: dict[tuple[str, str], dict[str, None]] = {}
    for item in document.items:
        for cell in item.measured():
            least = max(repetitions.get(cell.scenario, 0), cell.repetition or 0)
            repetitions[cell.scenario] = least
        for scenario, names in named(item):
            variants.setdefault(scenario, {}).update(dict.fromkeys(names))
        for plot in item.plots:
            if plot.kind in CAPTURED:
                own = captured.setdefault((plot.scenario, plot.size), {})
                own.update(dict.fromkeys(plot.variants))
            else:
                variants.setdefault(plot.scenario, {}).update(dict.fromkeys(plot.variants))
    plain = [
        Need(scenario, tuple(names), repetitions=repetitions.get(scenario, 0))
        for scenario, names in variants.items()
        if names
    ]
    with_captures = [
        Need(scenario, tuple(names), size) for (scenario, size), names in captured.items()
    ]
    return [*plain, *with_captures]


def need_of(plot: Plot) -> Need:
    """The need of a plot alone; what it needs is in the folder of this one."""
    return Need(plot.scenario, plot.variants, plot.size if plot.kind in CAPTURED else None)


def with_compared(need: Need, scenario: Scenario) -> Need:
    """The need with every variant, where a metric compares all: `*` stands for that."""
    if "*" not in need.variants:
        return need
    return replace(need, variants=tuple(scenario.variants))


def named(item: Item) -> Iterator[tuple[str, Iterable[str]]]:
    """Scenarios, and the variants of them that cells and statements name; `*` stands for all."""
    for cell in item.measured():
        yield cell.scenario, _variants(names_in(parse_expression(cell.here)))
    for statement in item.says:
        if statement.finding:
            yield statement.scenario, _variants(parse(statement.finding).names())


def _variants(names: Iterable[Name]) -> list[str]:
    found = [("*" if name.metric in BENEFITS else name.variant) for name in names]
    return list(dict.fromkeys(found))
