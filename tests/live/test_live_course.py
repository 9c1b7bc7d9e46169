"""A run as far as it has come, and how it is told."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from tests.live.rows import begun, event, sample, session, steady, subflow

from mptcplab.engine.compile import compile_plan
from mptcplab.engine.watch import Seen, Watch, seen
from mptcplab.live import course as course_module
from mptcplab.live.course import Course
from mptcplab.live.progress import Session
from mptcplab.live.terminal import line, view
from mptcplab.live.text import blocks, path_rows
from mptcplab.scenario import load


def made(*rows: dict[str, Any]) -> Course:
    course = Course(0, "x", 10.0)
    course.take(rows)
    return course


def test_the_throughput_is_that_of_the_last_second() -> None:
    rows = [begun(), *steady(2.0, wifi=20.0)]
    rows += [sample(3.0, "wifi", 5_000_000 + 125_000), sample(3.1, "wifi", 5_125_000)]
    wifi = made(*rows).lines[0]
    assert wifi.label == "wifi"
    # The last 1.1 s between two samples: what came in the first 100 ms of it, and 1 Mbit.
    assert wifi.counter.recent_mbps() == pytest.approx(1 / 1.1)
    assert wifi.counter.since(20).mbps()[0] == pytest.approx((2.0, 20.0))


def test_both_ways_and_several_clients_are_lines_of_their_own() -> None:
    rows = [begun(nodes=("a", "b"), ways=("up", "down"))]
    rows += [sample(0, "eth", 0, "a"), sample(0, "eth", 0, "b")]
    found = [one.label for one in made(*rows).lines]
    assert found == ["a.eth up", "a.eth down", "b.eth up", "b.eth down"]


def test_what_the_applications_got_comes_last() -> None:
    rows = [begun(), *steady(1.0, wifi=20.0), {"record": "deliveries", "t_ns": 0, "bytes": 0}]
    course = made(*rows, {"record": "deliveries", "t_ns": 10**9, "bytes": 2_375_000})
    assert [row.name for row in path_rows(course)] == ["wifi", "received"]
    assert path_rows(course)[1].mbps == ("19.0",)


def test_a_subflow_that_is_closed_or_no_longer_sampled_does_not_count() -> None:
    rows = [begun(), subflow(1.0, "old", "wifi"), subflow(3.0, "closed", "wifi")]
    rows += [subflow(3.0, "closed", "wifi", state="CLOSE"), subflow(3.0, "new", "wifi")]
    assert [one.t_ns for one in made(*rows).subflows("wifi")] == [3 * 10**9]


def test_subflows_that_are_no_longer_sampled_are_forgotten() -> None:
    course = made(begun())
    for second in range(100):
        course.take([subflow(second, f"{second}.{number}", "wifi") for number in range(10)])
    assert len(course._subflows) <= 20
    assert len(course.subflows("wifi")) == 10


@pytest.mark.parametrize("most", [10, 1000])
def test_the_range_is_that_of_all_points(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(course_module, "MOST_POINTS", most)
    values = [0, 10, 12, 90, 91, 60, 61, 70, 71, 72, 73, 74, 75]
    course = made(begun(), *(sample(at, "wifi", value) for at, value in enumerate(values)))
    rates = [rate for _, rate in course.lines[0].counter.mbps()]
    found = [rate for _, rate in course.lines[0].counter.extremes()]
    if most < len(values):
        assert found[0] <= min(rates)
        assert found[1] >= max(rates)
    else:
        assert found == [min(rates), max(rates)]


def test_a_copy_stays() -> None:
    course = made(begun(), *steady(1.0, wifi=20.0))
    copied = course.copy()
    course.take([sample(2.0, "wifi", 10**9), event(2.0, "link", "wifi", "down")])
    assert (len(copied.lines[0].counter.times_ns), len(copied.events)) == (11, 0)
    assert copied.lines[0].counter.mbps() == course.lines[0].counter.mbps()[:-1]


def test_of_many_samples_every_other_one_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_module, "MOST_POINTS", 10)
    course = made(begun(), *steady(2.0, wifi=20.0))
    counter = course.lines[0].counter
    assert len(counter.times_ns) <= 10
    assert counter.recent_mbps() == pytest.approx(20.0)
    assert {round(rate, 6) for _, rate in counter.mbps()} == {20.0}
    assert course.version > 1, "pages are made anew"


def test_blocks_show_the_course_from_the_first_sample_to_the_last() -> None:
    rows = [begun(), *steady(1.0, wifi=20.0)]
    rows += [sample(1 + step / 10, "wifi", 2_500_000) for step in range(1, 11)]
    assert blocks(made(*rows).lines[0].counter, 4, 20.0) == "██▁▁"


def test_a_screen_shows_paths_and_events() -> None:
    told = session()
    console = Console(file=io.StringIO(), width=100, height=24, force_terminal=True, no_color=True)
    with told.course() as course:
        assert course is not None
        console.print(view(course, told, console))
        words = line(course, told)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for part in ("lisbon/A1 mptcp 1 (1/2)", "4.0 of 10 s", "20 % of these runs", "80.0", "12.3"):
        assert part in shown
    assert "1 (1 backup)" in shown
    assert "1.000 s  link wifi <b>down</b>" in shown
    assert words.startswith(
        "lisbon/A1 mptcp 1 (1/2): 4.0 of 10 s; wifi 20.0, eth 80.0 Mbit/s; 20 % of these runs"
    )


@pytest.mark.parametrize(("width", "height"), [(20, 5), (40, 10), (300, 60)])
def test_every_size_of_a_terminal_has_room(width: int, height: int) -> None:
    told = Session()
    told.begun(0, "x", None)
    nodes = [f"host{number}" for number in range(40)]
    told.watched(0, [begun(nodes), *(sample(t, "eth", t, one) for one in nodes for t in (0, 1))])
    told.watched(0, [event(0.5, "traffic", f"flow{number}", "started") for number in range(30)])
    console = Console(file=io.StringIO(), width=width, height=height)
    with told.course() as course:
        assert course is not None
        console.print(view(course, told, console))
    shown = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(shown) <= max(height, 10)


class Clock:
    """A clock that is set."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_watch_tells_several_times_a_second_and_thins() -> None:
    told: list[list[dict[str, Any]]] = []
    clock = Clock()
    watch = Watch(Seen(("client",), ("down",), 10**9), lambda rows: told.append(list(rows)), clock)
    for row in steady(2.0, wifi=20.0):
        watch.take(row)
    watch.take(sample(2.0, "eth", 1, "server"))
    assert told == []
    clock.now_s = 0.2
    watch.take({"record": "events", "t_ns": 1, "kind": "link", "subject": "a", "label": "down"})
    (rows,) = told
    assert [row["record"] for row in rows] == ["begun", *["interface_samples"] * 3, "events"]
    watch.take(subflow(2.0, "a", "wifi"))
    watch.take(subflow(2.1, "a", "wifi"))
    watch.take({"record": "done"})
    assert [row["t_ns"] for row in told[1]] == [2_100_000_000]


def test_deliveries_are_summed_until_the_sample_before_the_last() -> None:
    told: list[dict[str, Any]] = []
    watch = Watch(Seen(("client",), ("down",), 0), told.extend, Clock())
    for t_s, size in ((0.05, 1), (0.12, 2), (0.14, 4), (0.21, 8)):
        # A bin comes some time after its own, here after the sample of 0.2 s.
        if t_s == 0.14:
            watch.take(sample(0.1, "wifi", 0))
            watch.take(sample(0.2, "wifi", 0))
        row = {"record": "deliveries", "t_ns": round(t_s * 10**9), "bytes": size}
        watch.take(row)
    watch.take(sample(0.3, "wifi", 0))
    watch.take({"record": "done"})
    found = [(row["t_ns"] / 1e9, row["bytes"]) for row in told if row["record"] == "deliveries"]
    assert found == [(0.1, 1), (0.2, 7), (0.3, 15)]


def test_the_clients_of_a_plan_are_seen_with_the_ways_of_its_payload() -> None:
    scenario = load("lisbon/A1")
    found = seen(compile_plan(scenario, "mptcp", 1, None))
    assert (found.nodes, found.ways) == (("client",), ("up",))
    assert Seen.of_json(found.to_json()) == found


def test_of_several_runs_the_newest_is_shown() -> None:
    told = Session()
    told.begin(3)
    for number in range(3):
        told.begun(number, f"run {number}", 1.0)
        told.ended(number - 1)
    with told.course() as course:
        assert course is not None
        assert course.words == "run 2"
    assert len(told._courses) == 2
    told.begin(3)
    told.begun(0, "again", 1.0)
    with told.course() as course:
        assert course is not None
        assert course.number == 3, "a page of an earlier run is made anew"
