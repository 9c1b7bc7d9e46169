"""The plan of a probe: its order, and the data that it uses at most."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.measure.results import PATHS

from mptcplab.measure.plan import (
    Direction,
    Kind,
    Step,
    choose_sizes,
    first_path,
    loads,
    most_bytes,
    steps,
)


def test_each_repetition_has_every_experiment_once_in_an_order_of_its_seed() -> None:
    planned = steps(2, (1_000, 10_000), 3, seed=7)
    assert planned == steps(2, (1_000, 10_000), 3, seed=7)
    assert planned != steps(2, (1_000, 10_000), 3, seed=8)
    # Looks that those before them may make needless come before all else, too.
    looks = [(Kind.SURVIVAL, 4), (Kind.PAYLOAD, 2), (Kind.FAST_OPEN, 6)]
    assert [step.kind for step in planned[:12]] == [kind for kind, n in looks for _ in range(n)]
    assert set(Counter(planned).values()) == {1}
    for repetition in range(3):
        kinds = Counter(step.kind for step in planned[12:] if step.repetition == repetition)
        assert kinds == {Kind.IDLE: 2, Kind.TCP: 8, Kind.MPTCP: 4, Kind.AT_ONCE: 4}


@pytest.mark.parametrize("budget", [10**6, 5 * 10**7, 10**9])
@pytest.mark.parametrize("paths", [1, 2, 4])
def test_chosen_sizes_keep_to_the_budget(budget: int, paths: int) -> None:
    sizes = choose_sizes(budget, paths, 3)
    if sizes:
        planned = steps(paths, sizes, 3, 0)
        left = budget - most_bytes(planned, paths)
        assert left >= 0
        assert most_bytes(planned + loads(paths, left), paths) <= budget
        assert sizes == tuple(sorted(sizes))


def test_a_large_budget_allows_large_transfers() -> None:
    assert choose_sizes(5 * 10**7, 2, 3) == (10_000, 100_000, 1_000_000)
    assert choose_sizes(1_000, 2, 3) == ()


def test_what_is_asked_for_is_within_what_is_told() -> None:
    step = Step(Kind.AT_ONCE, 0, None, Direction.DOWN, 1_000)
    plan = step.request(PATHS, "10.0.9.1")
    assert plan["bytes"] == 1_000
    assert [one["source"] for one in plan["connections"]] == ["10.0.1.1", "10.0.2.1"]
    assert step.most_bytes(2) > 1_000 + 2 * 38
    begun = Step(Kind.MPTCP, 0, None, Direction.UP, 1_000, begin=1).request(PATHS, "10.0.9.1")
    assert begun["connections"][0]["source"] == "10.0.2.1"
    assert begun["connections"][0]["role"] == "receive"


def test_data_in_the_syn_are_tried_where_that_is_possible_and_once_there_is_a_cookie() -> None:
    kinds = Counter(step.kind for step in steps(2, (1_000,), 1, 0, fast_open=False))
    assert kinds[Kind.FAST_OPEN] == 0
    assert kinds[Kind.PAYLOAD] == 2
    first, second = (Step(Kind.FAST_OPEN, look, 1).request(PATHS, "10.0.9.1") for look in (0, 1))
    for plan, expected in (
        (first, [("tcp", True)]),
        (second, [("tcp", True), ("mptcp", True), ("mptcp", False)]),
    ):
        connections = plan["connections"]
        assert [(one["protocol"], one["witness"]) for one in connections] == expected
        assert all(one["fast_open"] for one in connections)
        assert {one["source"] for one in connections} == {"10.0.2.1"}


@pytest.mark.parametrize(
    ("capable", "seed", "expected"),
    [((), 1, [0, 0, 0]), ((1, 2), 0, [1, 2, 1]), ((1, 2), 3, [2, 1, 2]), ((3,), 5, [3, 3, 3])],
)
def test_paths_take_turns_to_be_the_first(
    capable: tuple[int, ...], seed: int, expected: list[int]
) -> None:
    """As those of an agent do (`crates/host/measure/src/steps/survival/tests.rs`)."""
    assert [first_path(capable, repetition, seed) for repetition in range(3)] == expected


def test_a_load_lasts_for_a_while_and_has_pings_beside_it() -> None:
    every = loads(2, 10**7)
    assert [(step.kind, step.path) for step in every] == [(Kind.LOADED, 0), (Kind.LOADED, 1)]
    plan = every[1].request(PATHS, "10.0.9.1")
    assert plan["longest_ms"] == 2_000
    assert plan["bytes"] > 4 * 10**6
    assert [one["role"] for one in plan["connections"]] == ["send", {"echo": 200}]
    # No transfer that is compared has pings beside it.
    alone = [step for step in steps(2, (1_000,), 1, 0) if step.kind in (Kind.TCP, Kind.MPTCP)]
    assert all(len(step.request(PATHS, "10.0.9.1")["connections"]) == 1 for step in alone)
    assert loads(2, 10_000) == []
