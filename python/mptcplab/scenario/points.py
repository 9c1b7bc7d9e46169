"""The points of a scenario's sweep: combinations of the values of its axes, as scenarios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mptcplab.scenario.loading import with_overrides
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.problem import Problem, ScenarioError
from mptcplab.scenario.sweep import Axis, overrides_of, paths_of, point

MOST_CHECKED = 100
"""Points that are checked before a sweep runs; of more the ends of each axis are."""


def count_points(axes: Sequence[Axis]) -> int:
    """How many points the axes have."""
    return math.prod(len(axis.rows) for axis in axes)


def at_point(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """The scenario with the values of a point.

    Raises:
        ScenarioError: a value does not fit; names its place in the sweep.

    """
    try:
        return with_overrides(scenario, overrides_of(values))
    except ScenarioError as error:
        raise ScenarioError(
            _placed(scenario, values, problem) for problem in error.problems
        ) from None


def check_points(scenario: Scenario) -> list[Problem]:
    """The problems of the points of the scenario's sweep, each once."""
    if scenario.sweep is None:
        return []
    found: dict[tuple[int | None, str], Problem] = {}
    axes = scenario.sweep.every_axis
    for number in checked_points(axes):
        try:
            at_point(scenario, point(axes, number))
        except ScenarioError as error:
            for problem in error.problems:
                found.setdefault((problem.line, problem.text), problem)
    return list(found.values())


def checked_points(axes: Sequence[Axis]) -> Iterator[int]:
    """Numbers of the points to check beforehand: all, or with the first and last of each axis."""
    count = count_points(axes)
    if count <= MOST_CHECKED:
        yield from range(1, count + 1)
        return
    yield 1
    stride = count
    for axis in axes:
        stride //= len(axis.rows)
        few = len(axis.rows) <= MOST_CHECKED and not axis.is_drawn
        for row in range(1, len(axis.rows)) if few else (len(axis.rows) - 1,):
            yield 1 + row * stride


def point_words(values: Mapping[str, Any]) -> str:
    """`links.wifi.delay 5 ms, links.wifi.rate 1 Mbit/s`."""
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _placed(scenario: Scenario, values: Mapping[str, Any], problem: Problem) -> Problem:
    """The problem at the axis that brought the value, or with the point's values."""
    assert scenario.sweep is not None
    for axis in scenario.sweep.every_axis:
        for key in axis.keys:
            for path in paths_of(key):
                if problem.origin == "--set" and f"{problem.key}.".startswith(f"{path}."):
                    return _at_key(scenario, axis, key, values, problem)
    text = f"{problem.text} (at {point_words(values)})"
    return Problem(problem.origin, problem.line, problem.key, text)


def _at_key(
    scenario: Scenario, axis: Axis, key: str, values: Mapping[str, Any], problem: Problem
) -> Problem:
    own = tuple(values[one] for one in axis.keys)
    rows = () if axis.is_drawn else axis.rows
    place = next((place for place, row in enumerate(rows) if row == own), 0)
    return scenario.provenance.problem((*axis.place, key, place), problem.text)
