"""The rule by which a figure agrees with the document's, and its marks."""

import pytest

from mptcplab.metrics.statistics import estimate
from mptcplab.reproduction.beside import Known, Mark, agrees, figure, said
from mptcplab.reproduction.figures import Figures, VariantFigures, figure_of
from mptcplab.reproduction.model import Measured, Statement, Statistic
from mptcplab.scenario import load


def measured(**metrics: list[float | None]) -> Figures:
    """A variant `mptcp` with samples of metrics, in repetitions from 1."""
    count = max(len(samples) for samples in metrics.values())
    found = {name: estimate(samples) for name, samples in metrics.items()}
    return {"mptcp": VariantFigures(tuple(range(1, count + 1)), found, are_one_run=False)}


def known(**metrics: list[float | None]) -> Known:
    return Known(load("lisbon/A1"), measured(**metrics))


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
    found = figure(cell(), known(goodput=[120.0]))
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
    assert figure(why, known(joins=[1.0])).mark is Mark.DIFFERS


def test_what_cannot_be_compared_says_why() -> None:
    assert figure(cell("mptcp.joins"), known(joins=[1.0])).note == "the document gives no figure"
    found = figure(cell(incomparable="another network"), known(goodput=[146.0]))
    assert (found.mark, found.note) == (Mark.INCOMPARABLE, "another network")
    refused = figure(cell(), Known(load("lisbon/A1"), {}, "the kernel lacks it"))
    assert (refused.mark, refused.note) == (Mark.INCOMPARABLE, "the kernel lacks it")


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


def test_a_statement_is_as_its_finding() -> None:
    own = Statement(text="x", finding="mptcp.goodput > 100 Mbit/s")
    held = said(own, known(goodput=[120.0]))
    assert (held.mark, held.sides) == (Mark.AGREES, "120.0 > 100.0")
    assert said(own, known(goodput=[80.0])).mark is Mark.UNEXPLAINED
    assert said(own, known(goodput=[80.0])).sides == "80.0, not > 100.0"
    why = own.model_copy(update={"note": "the link is slower than theirs"})
    assert said(why, known(goodput=[80.0])).mark is Mark.DIFFERS
