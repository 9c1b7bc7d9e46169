"""The rule by which a figure agrees with the document's, and its marks."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from mptcplab.metrics.statistics import estimate
from mptcplab.reproduction.beside import Known, account, figure, said
from mptcplab.reproduction.expected import ByFigure, Expected
from mptcplab.reproduction.figures import Figures, VariantFigures, figure_of
from mptcplab.reproduction.html import to_html
from mptcplab.reproduction.json import to_json
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.marks import Mark, agrees
from mptcplab.reproduction.model import Document, Item, Measured, Statement, Statistic
from mptcplab.reproduction.terminal import to_terminal
from mptcplab.scenario import load


def measured(**metrics: list[float | None]) -> Figures:
    """A variant `mptcp` with samples of metrics, in repetitions from 1."""
    count = max(len(samples) for samples in metrics.values())
    found = {name: estimate(samples) for name, samples in metrics.items()}
    return {
        "mptcp": VariantFigures(
            tuple(range(1, count + 1)), found, are_one_run=False, are_simulated=True
        )
    }


def known(expected: ByFigure | None = None, **metrics: list[float | None]) -> Known:
    return Known(load("lisbon/A1"), measured(**metrics), expected=expected)


def on_kernel(expected: ByFigure | None = None, **metrics: list[float | None]) -> Known:
    of_kernel = replace(measured(**metrics)["mptcp"], are_simulated=False)
    return Known(load("lisbon/A1"), {"mptcp": of_kernel}, expected=expected)


def cell(here: str = "mptcp.goodput", **keys: object) -> Measured:
    return Measured.model_validate({"scenario": "lisbon/A1", "here": here} | keys)


@pytest.mark.parametrize(
    ("theirs", "ours", "same"),
    [(100, 90, True), (100, 110, True), (100, 89.9, False), (100, 110.1, False), (0, 0, True)],
)
def test_a_figure_agrees_within_a_tenth(theirs: float, ours: float, same: bool) -> None:
    assert agrees(theirs, ours) is same


def test_of_a_bound_only_more_disagrees() -> None:
    assert agrees(0.5, 0.0, at_most=True)
    assert agrees(0.5, 0.5, at_most=True)
    assert not agrees(0.5, 0.51, at_most=True)


def test_the_documents_figure_and_the_reason_are_those_of_the_scenario() -> None:
    found = figure(cell(), known({"mptcp.goodput": Expected(121.0)}, goodput=[120.0]))
    assert (found.theirs, found.mark) == (146.0, Mark.DIFFERS)
    assert found.note.startswith("whole frames")
    assert (found.theirs_shown, found.ours_shown) == ("146.0", "120.0")
    assert figure(cell(), known(goodput=[140.0])).mark is Mark.AGREES


def test_a_difference_without_a_reason_is_marked() -> None:
    own = cell("mptcp.joins", document=2)
    assert figure(own, known(joins=[1.0])).mark is Mark.UNEXPLAINED
    source = own.model_copy(update={"note": "table 6.1"})
    assert figure(source, known(joins=[1.0])).mark is Mark.UNEXPLAINED
    why = own.model_copy(update={"note": "one path alone is there"})
    assert figure(why, known({"mptcp.joins": Expected(1.0)}, joins=[1.0])).mark is Mark.DIFFERS


@pytest.mark.parametrize(
    ("expected", "mark"),
    [
        (None, Mark.UNCHECKED),
        ({}, Mark.UNEXPECTED),
        ({"mptcp.goodput": Expected(120.0)}, Mark.DIFFERS),
        ({"mptcp.goodput": Expected(114.3)}, Mark.DIFFERS),
        ({"mptcp.goodput": Expected(114.2)}, Mark.UNEXPECTED),
        ({"mptcp.goodput": Expected(110.0, 4.6)}, Mark.DIFFERS),
        ({"mptcp.goodput": Expected(60.0, 80.0)}, Mark.UNEXPECTED),
        ({"mptcp.goodput": Expected(None)}, Mark.UNEXPECTED),
    ],
)
def test_a_reason_holds_for_the_figure_that_it_was_written_for(
    expected: ByFigure | None, mark: Mark
) -> None:
    assert figure(cell(), known(expected, goodput=[120.0])).mark is mark
    assert figure(cell(), known(expected, goodput=[140.0])).mark is Mark.AGREES


def test_beside_a_large_figure_a_small_one_has_a_margin_of_a_hundredth_of_it() -> None:
    assert Expected(0.0).holds(0.15, 15.0)
    assert not Expected(0.0).holds(0.16, 15.0)
    assert Expected(None).holds(None, 15.0)


def test_a_figure_that_went_into_the_scenario_does_not_agree() -> None:
    assert figure(cell("tcp-wifi.goodput"), wifi(43.8)).mark is Mark.INPUT
    assert figure(cell("tcp-wifi.goodput"), wifi(30.0)).mark is Mark.UNEXPLAINED
    own = Statement(text="x", finding="tcp-wifi.goodput > 40", input=True)
    assert said(own, wifi(43.8)).mark is Mark.INPUT


def wifi(goodput: float) -> Known:
    return Known(load("lisbon/A1"), {"tcp-wifi": measured(goodput=[goodput])["mptcp"]})


def test_what_cannot_be_compared_says_why() -> None:
    assert figure(cell("mptcp.joins"), known(joins=[1.0])).note == "the document gives no figure"
    found = figure(cell(incomparable="another network"), known(goodput=[146.0]))
    assert (found.mark, found.note) == (Mark.INCOMPARABLE, "another network")
    without = Known(load("lisbon/A1"), {}, {"mptcp": "the kernel lacks it"})
    refused = figure(cell(), without)
    assert (refused.mark, refused.note) == (Mark.INCOMPARABLE, "the kernel lacks it")
    refused_said = said(Statement(text="x", finding="mptcp.goodput > tcp-wifi.goodput"), without)
    assert (refused_said.mark, refused_said.note) == (Mark.INCOMPARABLE, "the kernel lacks it")


@pytest.mark.parametrize(
    ("variant", "here", "mark"),
    [
        ("tcp-wifi", "mptcp.goodput", Mark.AGREES),
        ("tcp-wifi", "mptcp.goodput / tcp-wifi.goodput", Mark.INCOMPARABLE),
        ("tcp-wifi", "mptcp.aggregation_benefit", Mark.INCOMPARABLE),
    ],
)
def test_a_refused_variant_concerns_only_figures_that_are_made_of_it(
    variant: str, here: str, mark: Mark
) -> None:
    own = replace(
        known(goodput=[146.0], aggregation_benefit=[0.5]), refusals={variant: "it is lacking"}
    )
    assert figure(cell(here), own).mark is mark


def test_what_has_no_figure_of_the_document_either_is_not_measured() -> None:
    nothing = Known(load("lisbon/A1"), {})
    assert figure(cell("mptcp.joins"), nothing).mark is Mark.MISSING
    elsewhere = figure(cell(incomparable="another network"), nothing)
    assert (elsewhere.mark, elsewhere.note) == (Mark.MISSING, "another network")


def test_what_was_not_run_is_not_measured() -> None:
    assert figure(cell(), Known(load("lisbon/A1"), {})).mark is Mark.MISSING
    statement = Statement(text="x", finding="mptcp.goodput > 1")
    assert said(statement, Known(load("lisbon/A1"), {})).mark is Mark.MISSING


def test_arithmetic_is_done_by_repetition() -> None:
    found = figure_of(cell("mptcp.a / mptcp.b"), measured(a=[1.0, 4.0], b=[2.0, 4.0]))
    assert found is not None
    assert found.samples == (0.5, 1.0)
    assert found.mean == 0.75


def test_deviations_and_single_repetitions() -> None:
    samples = measured(goodput=[1.0, 3.0])

    def mean(**keys: object) -> float | None:
        found = figure_of(cell("mptcp.goodput", **keys), samples)
        return None if found is None else found.mean

    assert mean(statistic=Statistic.POPULATION_DEVIATION) == 1.0
    assert mean(statistic=Statistic.SAMPLE_DEVIATION) == pytest.approx(2**0.5)
    assert (mean(repetition=2), mean(repetition=3)) == (3.0, None)
    once = measured(goodput=[1.0])
    assert figure_of(cell("mptcp.goodput", statistic=Statistic.SAMPLE_DEVIATION), once) is None


def test_a_statement_is_as_its_finding() -> None:
    own = Statement(text="x", finding="mptcp.goodput > 100 Mbit/s")
    held = said(own, known(goodput=[120.0]))
    assert (held.mark, held.sides) == (Mark.AGREES, "120.0 > 100.0")
    assert said(own, known(goodput=[80.0])).mark is Mark.UNEXPLAINED
    assert said(own, known(goodput=[80.0])).sides == "80.0, not > 100.0"
    why = own.model_copy(update={"note": "the link is slower than theirs"})
    assert said(why, known({"mptcp.goodput": Expected(81)}, goodput=[80.0])).mark is Mark.DIFFERS
    assert said(why, known({"mptcp.goodput": Expected(90)}, goodput=[80.0])).mark is Mark.UNEXPECTED
    assert said(why, known({}, goodput=[80.0])).mark is Mark.UNEXPECTED
    assert said(why, known(goodput=[80.0])).mark is Mark.UNCHECKED


def test_a_statement_that_holds_by_chance_does_not_agree() -> None:
    own = Statement(text="x", finding="mptcp.goodput > 100 Mbit/s")
    found = said(own, known(goodput=[60.0, 120.0, 150.0]))
    assert (found.mark, found.sides) == (
        Mark.UNEXPLAINED,
        "110.0 > 100.0, but the difference is chance: 10 ± 1.1e+02",
    )


def test_a_figure_that_some_repetitions_lack_is_not_as_expected() -> None:
    own = cell("mptcp.goodput", document=2, note="one path alone is there")
    assert figure(own, known({}, goodput=[2.0, None])).mark is Mark.UNEXPECTED
    assert figure(own, known(goodput=[2.0, None])).mark is Mark.AGREES


def test_a_statement_that_fails_early_wants_no_figures_of_its_rest() -> None:
    finding = "mptcp.joins == 1 and mptcp.goodput > 100"
    statement = Statement(text="joined, and fast", scenario="lisbon/A1", finding=finding)
    assert said(statement, known({}, joins=[0.0])).mark is Mark.UNEXPLAINED


@pytest.mark.parametrize("here", ["mptcp.completion_s", "2 * mptcp.completion_s", "mptcp.absent"])
def test_a_transfer_that_never_ends_is_red_unless_that_is_expected(here: str) -> None:
    own = cell(here, document=2, note="the path is down to the end")
    never: ByFigure = {here: Expected(None)}
    runs: list[float | None] = [None, None]
    assert figure(own, known({here: Expected(3.0)}, completion_s=runs)).mark is Mark.UNEXPECTED
    assert figure(own, known({}, completion_s=runs)).mark is Mark.UNEXPECTED
    assert figure(own, known(never, completion_s=runs)).mark is Mark.DIFFERS
    assert figure(own, known(never, completion_s=[5.0, 5.0], absent=[5.0])).mark is Mark.UNEXPECTED
    unexplained = cell(here, document=2)
    assert figure(unexplained, known(completion_s=runs)).mark is Mark.UNEXPLAINED


def test_a_statement_about_what_never_ends_is_red_unless_that_is_expected() -> None:
    finding = "mptcp.completion_s < 5"
    own = Statement(text="it ends soon", finding=finding, note="the path is down to the end")
    never: ByFigure = {"mptcp.completion_s": Expected(None)}
    assert said(own, known({}, completion_s=[None])).mark is Mark.UNEXPECTED
    assert said(own, known(never, completion_s=[None])).mark is Mark.DIFFERS
    assert said(own, known(never, completion_s=[4.0])).mark is Mark.AGREES
    unexplained = own.model_copy(update={"note": ""})
    assert said(unexplained, known(completion_s=[None])).mark is Mark.UNEXPLAINED


STEADY: list[float | None] = [111.0, 112.0, 113.0]
WIDE: list[float | None] = [20.0, 112.0, 204.0]


@pytest.mark.parametrize(
    ("document", "expected", "samples", "mark"),
    [
        (100, None, STEADY, Mark.UNDECIDED),
        (90, None, STEADY, Mark.UNEXPLAINED),
        (90, None, [111.0, None, 113.0], Mark.UNEXPLAINED),
        (80, None, WIDE, Mark.UNDECIDED),
        (70, None, WIDE, Mark.UNEXPLAINED),
    ],
)
def test_on_a_kernel_what_is_near_agreement_may_differ_by_chance(
    document: float, expected: ByFigure | None, samples: list[float | None], mark: Mark
) -> None:
    own = cell("mptcp.goodput", document=document)
    assert figure(own, on_kernel(expected, goodput=samples)).mark is mark
    assert figure(own, known(expected, goodput=samples)).mark is Mark.UNEXPLAINED


@pytest.mark.parametrize(
    ("expected", "mark"),
    [
        (Expected(112.0), Mark.DIFFERS),
        (Expected(104.6), Mark.UNDECIDED),
        (Expected(104.0), Mark.UNEXPECTED),
        (Expected(60.0, 55.0), Mark.UNDECIDED),
        (Expected(50.0, 55.0), Mark.UNEXPECTED),
        (Expected(None), Mark.UNEXPECTED),
    ],
)
def test_on_a_kernel_what_is_near_the_expected_figure_may_differ_by_chance(
    expected: Expected, mark: Mark
) -> None:
    own = cell("mptcp.goodput", document=45, note="the link is slower than theirs")
    assert figure(own, on_kernel({"mptcp.goodput": expected}, goodput=STEADY)).mark is mark


@pytest.mark.parametrize(
    ("samples", "mark"),
    [
        ([101.0, 100.0, 104.0], Mark.UNDECIDED),
        ([99.0, 100.0, 104.0], Mark.UNDECIDED),
        ([96.0, 98.0, 103.0], Mark.UNDECIDED),
        ([96.0, 96.1, 96.2], Mark.UNEXPLAINED),
        ([10.0, 30.0, 160.0], Mark.UNEXPLAINED),
        ([100.0], Mark.UNEXPLAINED),
    ],
)
def test_on_a_kernel_a_statement_may_fail_by_chance(
    samples: list[float | None], mark: Mark
) -> None:
    own = Statement(text="x", finding="mptcp.goodput > 100.5 Mbit/s")
    assert said(own, on_kernel(goodput=samples)).mark is mark
    assert said(own, known(goodput=samples)).mark is Mark.UNEXPLAINED


def test_on_a_kernel_two_figures_may_be_nearly_equal_but_for_chance() -> None:
    own = Statement(text="x", finding="|mptcp.a - mptcp.b| <= 0.1 * mptcp.b")
    near = on_kernel(a=[8.0, 10.2, 8.2], b=[10.0, 10.1, 10.2])
    assert said(own, near).mark is Mark.UNDECIDED
    far = on_kernel(a=[1.0, 10.2, 1.2], b=[10.0, 10.1, 10.2])
    assert said(own, far).mark is Mark.UNEXPLAINED


def test_on_a_kernel_a_figure_without_an_interval_is_never_red() -> None:
    for keys in ({"statistic": Statistic.SAMPLE_DEVIATION}, {"repetition": 1}):
        own = cell(document=50, **keys)
        assert figure(own, on_kernel(goodput=STEADY)).mark is Mark.UNDECIDED
        assert figure(own, known(goodput=STEADY)).mark is Mark.UNEXPLAINED


def test_warnings_of_the_runs_are_shown_with_their_figures() -> None:
    item = Item(table="1", section="1", caption="x", columns=("a",), rows=((cell(),),))
    own = measured(goodput=[146.0])["mptcp"]
    found = {
        "mptcp": replace(own, warnings=("repetition 1: the machine was too slow",)),
        "tcp-wifi": replace(own, warnings=("repetition 1: of another table",)),
    }
    document = Document(name="lisbon", title="x", about="x", quick="1 s", items=(item,))
    shown = account(document, {"lisbon/A1": Known(load("lisbon/A1"), found)})
    told = "lisbon/A1 mptcp, repetition 1: the machine was too slow"
    assert shown.items[0].warnings == (told,)
    assert to_json(shown, Manner("kernel"), [[]])["items"][0]["warnings"] == [told]
    printed = StringIO()
    to_terminal(shown, Console(file=printed, width=200))
    assert f"warning: {told}" in printed.getvalue()
    assert f"<li>{told}</li>" in to_html(shown, Manner("kernel"), [[]], "")
