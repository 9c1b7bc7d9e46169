"""Mistakes in a scenario: what is replaced in `good.yaml` by what, and the messages."""

from pathlib import Path

import pytest
from tests.scenario.mistakes import (
    events,
    file,
    hosts,
    link_quantities,
    links,
    middleboxes,
    traffic,
    variants,
)

from mptcplab.scenario import ScenarioError, loads

GOOD = Path(__file__).with_name("good.yaml").read_text(encoding="utf-8")

BAD = [
    *link_quantities.MISTAKES,
    *links.MISTAKES,
    *middleboxes.MISTAKES,
    *hosts.MISTAKES,
    *traffic.MISTAKES,
    *events.MISTAKES,
    *variants.MISTAKES,
    *file.MISTAKES,
]


def test_the_good_file_is_good() -> None:
    assert loads(GOOD).title == "Two paths"


@pytest.mark.parametrize(("old", "new", "expected"), BAD, ids=[case[1][:60] for case in BAD])
def test_a_mistake_is_named_with_line_key_and_hint(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD
    with pytest.raises(ScenarioError) as caught:
        loads(GOOD.replace(old, new, 1), "x.yaml")
    assert [str(problem) for problem in caught.value.problems] == [f"x.yaml:{m}" for m in expected]


NO_RATE = GOOD.replace("rate: 48 Mbit/s, ", "")


def test_an_event_sets_no_queue_of_a_link_without_a_rate() -> None:
    event = "events:\n  - {at: 1 s, link: wifi, change: {up: {queue: 9 kB}}}\n"
    with pytest.raises(ScenarioError) as caught:
        loads(NO_RATE.replace("events:\n", event), "x.yaml")
    assert [str(problem) for problem in caught.value.problems] == [
        "x.yaml:21: events.0.change.up.queue: no packet waits for wifi, whose rate is unlimited: "
        "give it a rate"
    ]


def test_a_queue_is_accepted_where_an_event_gives_the_link_its_rate() -> None:
    event = "events:\n  - {at: 1 s, link: wifi, change: {rate: 5 Mbit/s}}\n"
    queue = NO_RATE.replace("delay: 1 ms", "delay: 1 ms, queue: 9 kB")
    assert loads(queue.replace("events:\n", event)).links["wifi"].queue is not None


def test_there_are_forty_and_more() -> None:
    assert len({new for _, new, _ in BAD}) > 40
