"""Whether a difference between two figures is more than chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mptcplab.metrics.statistics import Estimate, difference_of_means, estimate
from mptcplab.scenario.expectation import Comparison, Name, names_in, value_of

SMALLEST_DIFFERENCE = 0.01
"""Part of the larger side by which two sides have to differ, so that one is said to be more."""

Samples = Mapping[int, float | None]
"""A metric by repetition."""
SampleLookup = Callable[[str, str], Samples]
"""Samples by variant and full metric name; empty where there are none."""


def difference(
    comparison: Comparison, samples: SampleLookup, *, are_one_run: bool, are_simulated: bool
) -> Estimate:
    """Left side less right side, over the repetitions that all metrics have.

    Simulated repetitions of one number have one seed, so that they are a pair, and what chance does
    to both sides alike does not widen the interval. On a kernel the seed decides little, and pairs
    would only cost degrees of freedom.
    """
    names = [*names_in(comparison.left), *names_in(comparison.right)]
    own = {name: samples(name.variant, name.metric) for name in names}
    common = sorted(set.intersection(*map(set, own.values()))) if own else []

    def sides(repetition: int) -> tuple[float, float] | None:
        def value(variant: str, metric: str) -> float | None:
            return own[Name(variant, metric)][repetition]

        left, right = value_of(comparison.left, value), value_of(comparison.right, value)
        return None if left is None or right is None else (left, right)

    known = [both for both in map(sides, common) if both is not None]
    if known and not are_simulated:
        return difference_of_means([left for left, _ in known], [right for _, right in known])
    return estimate([left - right for left, right in known], are_one_run=are_one_run)


def doubt(comparison: Comparison, left: float, right: float, apart: Estimate) -> str | None:
    """Why `<` or `>` is not shown though its sides are so; null where it is.

    `<=`, `>=` and `==` claim no difference: what they allow is written in them.
    """
    if comparison.sign not in ("<", ">"):
        return None
    if abs(left - right) <= SMALLEST_DIFFERENCE * max(abs(left), abs(right)):
        return f"the sides are less than {100 * SMALLEST_DIFFERENCE:g} % apart"
    if apart.ci95 is not None and apart.ci95[0] <= 0 <= apart.ci95[1]:
        return f"the difference is chance: {apart.mean:.2g} ± {apart.half_width:.2g}"
    return None
