"""Whether a run had come to a steady state."""

from pathlib import Path

import numpy as np
import pytest
from tests.metrics.plans import carrier, end, link, two_paths
from tests.recording.handmade import (
    MILLISECOND,
    SECOND,
    description,
    manifest,
    record,
    result,
    transfer,
)

from mptcplab.metrics import compare, measure
from mptcplab.metrics.steadiness import Steadiness, judged
from mptcplab.recording import Recording
from mptcplab.recording.manifest import Json

LENGTH = 9 * SECOND
EVEN = [10] * 9


def recorded(
    folder: Path,
    mbps: list[int],
    plan: Json | None = None,
    events: tuple[dict[str, object], ...] = (),
    **of_transfer: object,
) -> Recording:
    """A download that delivers so many Mbit/s in each second."""
    deliveries: list[dict[str, object]] = [
        {
            "traffic": "bulk",
            "index": 0,
            "way": "down",
            "t_ns": second * SECOND + place * 10 * MILLISECOND,
            "bytes": rate * 1250,
        }
        for second, rate in enumerate(mbps)
        for place in range(100)
        if rate
    ]
    row = transfer(end_ns=LENGTH, bytes=sum(mbps) * 125_000) | of_transfer
    tables = {"transfers": [row], "deliveries": deliveries, "events": list(events)}
    return record(folder, tables, manifest(plan=plan or two_paths()))


def steady(recording: Recording) -> float | None:
    return measure(recording).metrics.get("steady")


def test_an_even_rate_is_steady(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "out", EVEN)
    found = measure(recording).steadiness
    assert found is not None
    assert found.trend == 0.0
    assert found.lead == pytest.approx(0.0)
    assert steady(recording) == 1.0


def test_a_short_start_does_not_matter(tmp_path: Path) -> None:
    # 85 of 90: the last third carried 5.9 % more than a mean third.
    assert steady(recorded(tmp_path / "out", [5, *[10] * 8])) == 1.0


def test_a_rate_that_grows_in_the_last_third_is_a_trend(tmp_path: Path) -> None:
    found = measure(recorded(tmp_path / "out", [10] * 6 + [9, 10, 11])).steadiness
    assert found is not None
    assert found.has_trend
    assert not found.has_lead
    assert found.reason == "over the last third the goodput grew by 27 % of its mean"


def test_a_long_start_is_told_of_though_the_last_third_is_even(tmp_path: Path) -> None:
    found = measure(recorded(tmp_path / "out", [0, 0, 1, 2, 4, 8, 10, 10, 10])).steadiness
    assert found is not None
    assert found.trend == 0.0
    assert found.lead == pytest.approx(1.0)
    assert found.reason == "the last third carried 100 % more than a mean third"


def test_chance_is_no_trend() -> None:
    up_and_down = np.array([10.0, 14, 7, 13, 8, 12, 9, 13, 11, 12])
    assert judged(up_and_down, 3 * up_and_down.sum()) == Steadiness(trend=0.0, lead=0.0)
    # The same line without the chance: 1 % more with each batch.
    line = np.array([10.0 + 0.1 * place for place in range(10)])
    found = judged(line, 3 * line.sum())
    assert found is not None
    assert found.trend == pytest.approx(1 / 10.45)
    assert found.is_steady
    steeper = np.array([10.0 + 0.2 * place for place in range(10)])
    found = judged(steeper, 3 * steeper.sum())
    assert found is not None
    assert found.trend == pytest.approx(2 / 10.9)
    assert not found.is_steady


def test_nothing_carried_is_not_judged(tmp_path: Path) -> None:
    assert "steady" not in measure(recorded(tmp_path / "out", [0] * 9)).metrics


def test_a_planned_change_is_not_called_unsteady(tmp_path: Path) -> None:
    fails = carrier(7 * SECOND, "eth fails", 1, up=False)
    happened: dict[str, object] = {
        "t_ns": 7 * SECOND,
        "kind": "link",
        "subject": "eth",
        "label": "eth fails",
    }
    mbps = [10] * 7 + [2, 2]
    assert steady(recorded(tmp_path / "unplanned", mbps)) == 0.0
    with_event = recorded(tmp_path / "planned", mbps, two_paths(fails), (happened,))
    assert "steady" not in measure(with_event).metrics


def test_a_trace_is_not_called_unsteady(tmp_path: Path) -> None:
    plan = two_paths()
    links = plan["links"]
    assert isinstance(links, list)
    links[0] = link("air", end(0, 0), end(1, 0), {"kind": "trace", "opportunities_ms": [1]})
    recording = recorded(tmp_path / "out", [10] * 7 + [2, 2], plan)
    assert "steady" not in measure(recording).metrics


@pytest.mark.parametrize(
    "of_transfer", [{"kind": "http"}, {"error": "connection reset"}, {"start_ns": 10 * SECOND}]
)
def test_what_has_no_steady_state_is_not_judged(
    tmp_path: Path, of_transfer: dict[str, object]
) -> None:
    recording = recorded(tmp_path / "out", [10] * 7 + [2, 2], None, (), **of_transfer)
    assert "steady" not in measure(recording).metrics


def test_a_run_too_short_for_ten_bins_in_its_last_third_is_not_judged(tmp_path: Path) -> None:
    short = recorded(tmp_path / "short", [10], end_ns=290 * MILLISECOND)
    assert "steady" not in measure(short).metrics
    assert steady(recorded(tmp_path / "long", [10], end_ns=300 * MILLISECOND)) == 1.0


def test_the_warning_tells_the_worst_repetition(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")], repetitions=3))
    courses = [EVEN, [10] * 6 + [9, 10, 11], [0, 0, 1, 2, 4, 8, 10, 10, 10]]
    for repetition, mbps in enumerate(courses, start=1):
        recorded(made.recording_folder("mptcp", repetition), mbps)
    [mptcp] = compare(made)
    assert mptcp.metrics["steady"].samples == (1.0, 0.0, 0.0)
    assert (
        "not in a steady state in 2 of 3 repetitions, run it longer: the last third carried 100 % "
        "more than a mean third"
    ) in mptcp.warnings
