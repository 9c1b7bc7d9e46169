"""A difference by repetition, and what keeps it from being one."""

import pytest

from mptcplab.metrics.noise import Samples, difference, doubt
from mptcplab.scenario.expectation import parse

FIGURES: dict[str, Samples] = {
    "a": {1: 10.0, 2: 20.0, 3: 30.0},
    "b": {1: 9.0, 2: 18.9, 3: 29.1},
    "shuffled": {1: 29.1, 2: 9.0, 3: 18.9},
    "one": {2: 19.0},
}


def doubted(text: str, *, same: bool = False, simulated: bool = True) -> str | None:
    """Of the means of both sides, which are 20 and 19 or written in the finding."""
    (comparison,) = parse(text).comparisons
    apart = difference(
        comparison, lambda variant, _: FIGURES[variant], are_one_run=same, are_simulated=simulated
    )
    return doubt(comparison, 20.0, 19.0, apart)


def test_what_chance_does_to_both_sides_alike_is_not_counted() -> None:
    assert doubted("a.goodput > b.goodput") is None
    assert doubted("a.goodput > shuffled.goodput") == "the difference is chance: 1 ± 43"


def test_runs_on_a_kernel_are_no_pairs() -> None:
    """Welch: 1 ± 2.78 · √(10² / 3 + 10.05² / 3), at 4 degrees of freedom, cut to 3."""
    assert doubted("a.goodput > b.goodput", simulated=False) == "the difference is chance: 1 ± 26"


def test_one_run_has_no_interval() -> None:
    assert doubted("a.goodput > shuffled.goodput", same=True) is None
    assert doubted("a.goodput > one.goodput") is None


def test_a_bound_claims_no_difference() -> None:
    assert doubted("a.goodput >= shuffled.goodput") is None


@pytest.mark.parametrize(("right", "is_doubted"), [(99.0, True), (98.9, False), (101.0, True)])
def test_a_hundredth_is_no_difference(right: float, is_doubted: bool) -> None:
    (comparison,) = parse("a.goodput < b.goodput").comparisons
    apart = difference(
        comparison, lambda variant, _: FIGURES[variant], are_one_run=True, are_simulated=True
    )
    assert (doubt(comparison, 100.0, right, apart) is not None) is is_doubted
