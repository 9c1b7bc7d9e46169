"""How much the goodput varies from second to second."""

import statistics
from pathlib import Path

import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import MILLISECOND, SECOND, manifest, record, transfer

from mptcplab.metrics import measure
from mptcplab.recording import Recording

Row = dict[str, object]


def download(mbps: list[int], start_ns: int = 0, flow: str = "bulk") -> tuple[Row, list[Row]]:
    """A transfer that delivers so many Mbit/s in each second from its start, and its bins."""
    bins: list[Row] = [
        {
            "traffic": flow,
            "index": 0,
            "way": "down",
            "t_ns": start_ns + second * SECOND + place * 10 * MILLISECOND,
            "bytes": rate * 1250,
        }
        for second, rate in enumerate(mbps)
        for place in range(100)
        if rate
    ]
    end_ns = start_ns + len(mbps) * SECOND
    whole = sum(mbps) * 125_000
    return transfer(traffic=flow, start_ns=start_ns, end_ns=end_ns, bytes=whole), bins


def recorded(folder: Path, *downloads: tuple[Row, list[Row]], **of_transfer: object) -> Recording:
    tables = {
        "transfers": [row | of_transfer for row, _ in downloads],
        "deliveries": [one for _, bins in downloads for one in bins],
    }
    return record(folder, tables, manifest(plan=two_paths()))


def variations(recording: Recording) -> dict[str, float | None]:
    metrics = measure(recording).metrics
    return {name: value for name, value in metrics.items() if name.startswith("goodput_variation")}


def test_a_constant_goodput_does_not_vary(tmp_path: Path) -> None:
    found = variations(recorded(tmp_path / "out", download([10] * 6)))
    assert found == {"goodput_variation": pytest.approx(0.0, abs=1e-12)}


def test_it_is_the_deviation_of_the_seconds_over_their_mean(tmp_path: Path) -> None:
    mbps = [10, 12, 6, 14, 8, 0]
    found = variations(recorded(tmp_path / "out", download(mbps, 234 * MILLISECOND)))
    expected = statistics.stdev(mbps) / statistics.mean(mbps)
    assert found == {"goodput_variation": pytest.approx(expected)}


def test_a_part_of_a_second_at_the_end_does_not_count(tmp_path: Path) -> None:
    even = download([10, 12, 10, 12, 10, 99])
    found = variations(recorded(tmp_path / "out", even, end_ns=5 * SECOND + 900 * MILLISECOND))
    expected = statistics.stdev([10, 12, 10, 12, 10]) / 10.8
    assert found == {"goodput_variation": pytest.approx(expected)}


def test_each_of_several_flows_has_its_own_and_all_that_of_the_time_they_share(
    tmp_path: Path,
) -> None:
    first = download([10, 20] * 4, flow="first")
    second = download([20, 10] * 3, 2 * SECOND, flow="second")
    found = variations(recorded(tmp_path / "out", first, second))
    assert found == {
        "goodput_variation": pytest.approx(0.0, abs=1e-12),
        "goodput_variation.first": pytest.approx(statistics.stdev([10, 20] * 4) / 15),
        "goodput_variation.second": pytest.approx(statistics.stdev([20, 10] * 3) / 15),
    }


def test_flows_one_after_the_other_have_none_together(tmp_path: Path) -> None:
    first = download([10] * 6, flow="first")
    second = download([10] * 6, 6 * SECOND, flow="second")
    found = variations(recorded(tmp_path / "out", first, second))
    assert set(found) == {"goodput_variation.first", "goodput_variation.second"}


@pytest.mark.parametrize(
    "of_transfer",
    [{"kind": "http"}, {"error": "connection reset"}, {"end_ns": 5 * SECOND - MILLISECOND}],
)
def test_what_ends_by_its_speed_fails_or_is_short_has_none(
    tmp_path: Path, of_transfer: Row
) -> None:
    made = recorded(tmp_path / "out", download([10, 12, 10, 12, 10]), **of_transfer)
    assert variations(made) == {}


def test_nothing_delivered_has_none(tmp_path: Path) -> None:
    assert variations(recorded(tmp_path / "out", download([0] * 6))) == {}
