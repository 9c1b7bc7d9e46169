"""The account of a connection: every moment has one state, and they sum to its time."""

from hypothesis import given
from hypothesis import strategies as st

from mptcplab.explanation.account import (
    APPLICATION,
    CONGESTION_WINDOW,
    RECEIVE_WINDOW,
    SEND_BUFFER,
    UNKNOWN,
    WAITING,
    divided,
    merged,
)

STATES = (APPLICATION, CONGESTION_WINDOW, RECEIVE_WINDOW, SEND_BUFFER, f"{WAITING}:wifi")
TIMES = st.integers(min_value=-(10**9), max_value=10**10)
LENGTHS = st.integers(min_value=0, max_value=10**9)


@given(LENGTHS, st.lists(st.tuples(st.sampled_from(STATES), TIMES)), st.sampled_from(STATES))
def test_a_divided_interval_sums_to_its_length(
    length_ns: int, known: list[tuple[str, int]], rest: str
) -> None:
    times = divided(length_ns, known, rest)
    assert sum(times.values()) == length_ns
    assert all(ns > 0 for ns in times.values())


@given(LENGTHS, st.lists(st.lists(st.tuples(st.sampled_from(STATES), TIMES)), min_size=1))
def test_the_time_of_a_connection_sums_to_that_of_its_paths(
    length_ns: int, paths: list[list[tuple[str, int]]]
) -> None:
    parts = [divided(length_ns, known, APPLICATION) for known in paths]
    whole = merged(parts, length_ns)
    assert sum(whole.values()) == length_ns
    assert whole.get(UNKNOWN, 0) == 0


def test_a_connection_is_in_the_worst_state_of_its_paths() -> None:
    fast = {f"{WAITING}:far": 60, CONGESTION_WINDOW: 40}
    far = {SEND_BUFFER: 30, CONGESTION_WINDOW: 70}
    assert merged([fast, far], 100) == {
        f"{WAITING}:far": 60,
        SEND_BUFFER: 30,
        CONGESTION_WINDOW: 10,
    }
