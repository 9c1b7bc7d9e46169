"""The documents' files name scenarios, variants and metrics that there are, and no figure twice."""

from collections.abc import Iterator

import pytest

from mptcplab.metrics.naming import mistake_of
from mptcplab.reproduction.beside import Known, figure
from mptcplab.reproduction.model import Document, Measured, PlotKind
from mptcplab.reproduction.needs import need_of, needs
from mptcplab.reproduction.reading import ORDER, names, parse, read
from mptcplab.scenario import Scenario, ScenarioError, load
from mptcplab.scenario.entries import names as catalogue_names
from mptcplab.scenario.expectation import Name, names_in, parse_expression
from mptcplab.scenario.expectation import parse as parse_finding
from mptcplab.scenario.quantity import parse_quantity

DOCUMENTS = {name: read(name) for name in names()}


def loaded(document: Document) -> dict[str, Scenario]:
    return {need.scenario: load(need.scenario) for need in needs(document)}


def named(document: Document) -> Iterator[tuple[str, Name]]:
    """Every metric of a scenario that a document names."""
    for item in document.items:
        for cell in item.measured():
            yield from ((cell.scenario, name) for name in names_in(parse_expression(cell.here)))
        for one in item.says:
            if one.finding:
                yield from ((one.scenario, name) for name in parse_finding(one.finding).names())


def test_every_document_is_known() -> None:
    assert names() == list(ORDER)
    assert {document.name for document in DOCUMENTS.values()} == set(names())


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_every_cell_and_finding_names_a_scenario_a_variant_and_a_metric(document: Document) -> None:
    used = {scenario for scenario, _ in named(document)}
    assert used <= set(catalogue_names())
    scenarios = loaded(document)
    mistakes = []
    for scenario, name in named(document):
        if name.variant not in scenarios[scenario].variants:
            mistakes.append(f"{scenario}: no variant {name.variant}")
        elif wrong := mistake_of(scenarios[scenario], name.variant, name.metric):
            mistakes.append(f"{scenario}: {name.variant}: {wrong}")
    for need in needs(document):
        known = {*scenarios[need.scenario].variants, "*"}
        mistakes += [f"{need}: {variant}" for variant in need.variants if variant not in known]
    assert mistakes == []


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_figure_stands_in_one_place_alone(document: Document) -> None:
    scenarios = loaded(document)
    twice = []
    for cell in (cell for item in document.items for cell in item.measured()):
        if cell.document is not None:
            parse_quantity(cell.document)
            own = cell.model_copy(update={"document": None})
            found = figure(own, Known(scenarios[cell.scenario], {}))
            twice += [cell] if found.theirs is not None else []
    assert twice == []


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_tables_and_figures_have_numbers_of_their_own(document: Document) -> None:
    known = [item.name for item in document.items]
    assert len(known) == len(set(known))


def numbers(kind: str, chapter: str, first: int, last: int) -> set[str]:
    return {f"{kind} {chapter}{number}" for number in range(first, last + 1)}


WANTED = {
    "lisbon": numbers("table", "6.", 1, 7)
    | numbers("figure", "6.", 8, 20)
    | numbers("listing", "6.", 1, 2),
    "carfi": numbers("table", "", 2, 4) | numbers("figure", "", 3, 11),
    "birzeit": numbers("table", "4.", 1, 3)
    | numbers("figure", "4.", 3, 13)
    | numbers("table", "5.", 1, 3)
    | numbers("figure", "5.", 4, 5),
    "torino": numbers("figure", "4.", 7, 14) | numbers("figure", "5.", 1, 39),
}
"""Tables, figures and listings of the documents' results."""


@pytest.mark.parametrize("name", WANTED)
def test_a_document_has_every_table_figure_and_listing_of_its_results(name: str) -> None:
    assert {item.name for item in DOCUMENTS[name].items} == WANTED[name]


def test_a_run_is_needed_once_however_many_cells_show_it() -> None:
    needed = [(need.scenario, need.captured_size) for need in needs(DOCUMENTS["lisbon"])]
    assert len(needed) == len(set(needed))
    cells = [cell for item in DOCUMENTS["lisbon"].items for cell in item.measured()]
    assert sum(isinstance(cell, Measured) for cell in cells) > 2 * len(needed)


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_what_a_plot_shows_is_run(document: Document) -> None:
    run = {need.folder: need.variants for need in needs(document)}
    assert len(run) == len(needs(document))
    plots = [plot for item in document.items for plot in item.plots]
    shown = [plot for plot in plots if plot.kind is not PlotKind.BARS]
    assert shown
    assert [plot for plot in shown if not set(plot.variants) <= {*run[need_of(plot).folder]}] == []


ITEM = """
name: lisbon
title: a document
about: it
quick: 1 s
items:
  - table: "1"
    section: "1"
    caption: a table
    columns: [one, two]
    rows:
"""


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("[text]", "d.yaml:7: items.0: Value error, each row has a cell for each column"),
        (
            "[text, {hear: mptcp.goodput}]",
            "d.yaml:12: items.0.rows.0.1.here: Field required\n"
            "d.yaml:12: items.0.rows.0.1.hear: Extra inputs are not permitted",
        ),
    ],
)
def test_a_mistake_in_a_file_names_its_line(row: str, told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse(f"{ITEM}      - {row}\n", "d.yaml")
    assert str(caught.value) == told
