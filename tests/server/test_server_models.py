"""Bodies as models, tried with any values at any place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server.made import CONTACT, PLAN, encoded, made_result

from mptcplab.server import intake
from mptcplab.server.contact import Contact, NewEnrolment, NewToken
from mptcplab.server.plan import Plan
from mptcplab.server.strict_json import BodyError, parse
from mptcplab.server.summary import summary

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(0, 300)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["down", "up", "tcp", "mptcp", "idle", "complete", "failed", "10.0.1.1:1"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
Place = tuple[str | int, ...]


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Every place in a value."""
    yield above
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*above, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*above, number))


def changed(value: Any, place: Place, other: Any) -> Any:
    """The value with another one at a place; without it where that is `...`."""
    if not place:
        return other
    made = copy.deepcopy(value)
    inner = made
    for part in place[:-1]:
        inner = inner[part]
    if other is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = other
    return made


RESULT = made_result()
PLACES = list(places(RESULT))
CHANGES = st.lists(
    st.tuples(st.sampled_from(PLACES), VALUES | st.just(...)), min_size=1, max_size=3
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(changes=CHANGES)
def test_a_result_is_read_whole_or_refused(changes: list[tuple[Place, Any]]) -> None:
    told: Any = RESULT
    for place, other in changes:
        try:
            told = changed(told, place, other)
        except (KeyError, IndexError, TypeError):
            continue
    if told is ...:
        return
    taken_or_refused(json.dumps(told).encode())


NUMBERS = [
    place
    for place in PLACES
    if place
    and place[0] == "steps"
    and place[-1] in (
        "received_bytes", "sent_bytes", "moved_by_all_bytes", "size_bytes", "duration_us",
        "connect_us", "subflows_allowed", "endpoints", "accepted", "repetition",
    )
]  # fmt: skip


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    changes=st.lists(
        st.tuples(st.sampled_from(NUMBERS), st.sampled_from([0, 1, 255, 10**6, 2**53])),
        min_size=1,
        max_size=20,
    )
)
def test_accounts_that_contradict_each_other_are_read_or_refused(
    changes: list[tuple[Place, int]],
) -> None:
    told: Any = RESULT
    for place, other in changes:
        told = changed(told, place, other)
    taken_or_refused(json.dumps(told).encode())


@given(body=st.binary(max_size=200))
def test_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(BodyError):
        intake.read(body)


def taken_or_refused(body: bytes) -> None:
    """All that is made of a result that is taken can be told as JSON."""
    try:
        arrival = intake.read(body)
    except BodyError as error:
        refused = error
    else:
        _told_as_json(arrival, body)
        return
    assert refused.status in (400, 422)
    assert "\n" not in str(refused)


def _told_as_json(arrival: intake.Arrival, body: bytes) -> None:
    json.dumps(summary(arrival.result), allow_nan=False)
    assert intake.read_kept(arrival.content)[1] == body
    for row in arrival.rows:
        assert abs(row.mean) < float("inf")


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (("paths",), []),
        (("steps", 0, "path"), 2),
        (("steps", 0, "path"), None),
        (("steps", 0, "result", "connections"), []),
        # Of payload, and of data in the SYN.
        (("steps", 2, "result", "wrong_checksums"), ...),
        (("steps", 2, "result", "connections", 0, "refused"), ...),
        (("steps", 6, "result", "connections", 0, "probe", "seen", "syn_data_acked"), ...),
        (("steps", 6, "result", "connections", 0, "target", "syn", "data_bytes"), ...),
        (("steps", 6, "repetition"), 0),
        (("settings", "probe", "tcp_fastopen"), -1),
        (("steps", 10, "direction"), None),
        (("steps", 10, "size_bytes"), 0),
        (("steps", 12, "path"), 0),
        (("paths", 0, "source"), "nowhere"),
        (("outcome",), "failed"),
        (("id",), "0" * 36),
        (("sequence",), -1),
        (("sequence",), 1.0),
        (("sequence",), True),
        (("began_unix_ms",), 2**60),
        (("host", "busy"), 1.5),
        (("host", "load_1m"), float("nan")),
        (("host", "more"), 1),
        (("format",), 2),
        (("plan",), "lines"),
        (("plan",), "../lines@1"),
        (("reason",), "x" * 1001),
        (("reason",), "one\ntwo"),
    ],
)
def test_a_result_that_contradicts_itself_is_refused(place: Place, other: Any) -> None:
    with pytest.raises(BodyError) as refused:
        intake.read(json.dumps(changed(RESULT, place, other)).encode())
    assert refused.value.status in (400, 422)


def test_keys_that_newer_accounts_have_are_kept_and_not_read() -> None:
    told = changed(RESULT, ("steps", 0, "result", "connections", 0, "probe", "later_us"), 7)
    body = encoded(told)
    assert intake.read_kept(intake.read(body).content)[1] == body


@given(
    model=st.sampled_from([(Contact, CONTACT), (Plan, PLAN), (NewEnrolment, {}), (NewToken, {})]),
    data=st.data(),
)
def test_other_bodies_are_read_whole_or_refused(model: Any, data: st.DataObject) -> None:
    kind, good = model
    told = changed(good, data.draw(st.sampled_from(list(places(good)))), data.draw(VALUES))
    try:
        found = parse(kind, json.dumps(told).encode())
    except BodyError:
        return
    assert parse(kind, found.model_dump_json(by_alias=True).encode()) == found
