"""The plots over time draw whole intervals, and subflows for as long as they lived."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import (
    MILLISECOND,
    description,
    manifest,
    record,
    result,
    transfer,
)

from mptcplab.page.charts import Axis
from mptcplab.page.drawing import MOST_POINTS
from mptcplab.report import report
from mptcplab.report.canvas import WIDTH_INCHES
from mptcplab.report.charts import rows_of
from mptcplab.report.contents import LEAST_SAMPLES, boxes, courses_over_time
from mptcplab.report.palette import styles
from mptcplab.report.rates import rates
from mptcplab.report.series import Course, Line, course


def sampled(*times_ms: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (np.array(times_ms) * MILLISECOND).astype(np.int64)


def test_a_short_rest_belongs_to_the_last_interval() -> None:
    # Two packets in the last 1.5 ms are 16 Mbit/s there; over the interval they are nothing new.
    times_s, mbps = rates(sampled(0, 100, 200, 201.5), np.array([0, 125_000, 250_000, 253_000]))
    assert times_s.tolist() == pytest.approx([0.1, 0.2015])
    assert mbps.tolist() == pytest.approx([10, 128_000 * 8 / 1e6 / 0.1015])


def test_a_rest_of_half_an_interval_is_divided_by_its_length() -> None:
    times_s, mbps = rates(sampled(0, 100, 200, 250), np.array([0, 125_000, 250_000, 312_500]))
    assert times_s.tolist() == pytest.approx([0.1, 0.2, 0.25])
    assert mbps.tolist() == pytest.approx([10, 10, 10])


def test_two_samples_are_one_interval_and_fewer_are_none() -> None:
    assert rates(sampled(0, 1), np.array([0, 1250]))[1].tolist() == pytest.approx([10])
    assert rates(sampled(0), np.array([0]))[1].size == 0
    assert rates(sampled(), np.array([], np.int64))[1].size == 0


def test_a_line_of_many_samples_goes_to_the_last_one() -> None:
    samples = 5 * MOST_POINTS + 4
    times_ns = np.arange(samples) * 100 * MILLISECOND
    times_s, mbps = rates(times_ns, np.arange(samples) * 125_000, MOST_POINTS)
    assert times_s[-1] == times_ns[-1] / 1e9
    assert mbps == pytest.approx(10.0)


def round_trips(folder: Path, rows: list[tuple[str | None, int, int]]) -> list[float]:
    """The times of the line of a subflow's samples: state, bytes acknowledged, RTT in ms."""
    made = result(folder, description([("mptcp", "mptcp")]))
    samples: list[dict[str, object]] = [
        {
            "t_ns": place * 100 * MILLISECOND,
            "node": "server",
            "subflow": "10.0.1.2:5001-10.0.1.1:4000",
            "state": state,
            "bytes_acked": acknowledged,
            "rtt_us": rtt_ms * 1000,
        }
        for place, (state, acknowledged, rtt_ms) in enumerate(rows, start=1)
    ]
    record(
        made.recording_folder("mptcp", 1),
        {"transfers": [transfer()], "subflow_samples": samples},
        manifest(plan=two_paths()),
    )
    found = course(report(made).variants[0])
    assert found is not None
    [line] = found.rtt_ms
    return [float(time) for time in line.places]


def test_the_round_trip_time_of_a_closed_subflow_ends_with_it(tmp_path: Path) -> None:
    # As recorded where WiFi was lost: FIN-WAIT-1 for seconds, and data acknowledged when the link
    # was back and the connection had long gone on over another subflow.
    lived: list[tuple[str | None, int, int]] = [("ESTABLISHED", 1000 * n, 15) for n in range(1, 7)]
    closing = [("FIN-WAIT-1", 6500, 14), ("FIN-WAIT-1", 6500, 14), ("FIN-WAIT-1", 6500, 14)]
    late = [("CLOSING", 7000, 203), ("CLOSED", 9000, 18)]
    times = round_trips(tmp_path / "out", [*lived, *closing, *late])
    assert times == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])


def test_the_round_trip_time_of_a_sender_that_has_written_all_goes_on(tmp_path: Path) -> None:
    rows: list[tuple[str | None, int, int]] = [("ESTABLISHED", 1000, 15)]
    rows += [("FIN-WAIT-1", 1000 * n, 15) for n in range(2, 9)]
    assert len(round_trips(tmp_path / "sized", rows)) == 8
    idle: list[tuple[str | None, int, int]] = [("ESTABLISHED", 1000, 15)] * 8
    assert len(round_trips(tmp_path / "idle", idle)) == 8


def test_a_plot_of_nothing_but_zeros_has_a_scale() -> None:
    nothing = Line("wifi", "wifi", np.array([0.1, 0.2, 0.3]), np.zeros(3))
    only = Course("mptcp", 1, (nothing,), (), (), (), (), ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = courses_over_time(
            [only], lambda one: one.throughput_mbps, Axis("rate"), styles(["wifi"])
        )
        assert drawing is not None
        figure = drawing(WIDTH_INCHES)
    assert figure.axes[0].get_ylim() == (0, 1)


def test_payload_and_round_trips_are_told_by_subflow(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")]))
    samples: list[dict[str, object]] = [
        {
            "t_ns": place * 100 * MILLISECOND,
            "node": "server",
            "subflow": f"10.0.{network}.2:5001-10.0.{network}.1:4000",
            "bytes_acked": 1_000_000 * place * network,
            "rtt_us": 1000 * (10 * network + place),
        }
        for place in range(1, 7)
        for network in (1, 2)
    ]
    record(
        made.recording_folder("mptcp", 1),
        {"transfers": [transfer()], "subflow_samples": samples},
        manifest(plan=two_paths()),
    )
    found = course(report(made).variants[0])
    assert found is not None
    assert [(line.label, line.values.tolist()) for line in found.payload_mb] == [
        ("wifi", [1, 2, 3, 4, 5, 6]),
        ("eth", [2, 4, 6, 8, 10, 12]),
    ]
    wifi, eth = found.rtt_ms_by_payload
    assert (wifi.places.tolist(), wifi.values.tolist()) == (
        [1, 2, 3, 4, 5, 6],
        [11, 12, 13, 14, 15, 16],
    )
    assert eth.places.tolist() == [2, 4, 6, 8, 10, 12]
    metrics = report(made).variants[0].metrics
    assert metrics["rtt_s"].mean == pytest.approx(0.0185)
    assert metrics["rtt_s.eth"].mean == pytest.approx(0.0235)
    assert metrics["rtt_s.wifi.p50"].mean == pytest.approx(0.0135)


def test_boxes_are_of_variants_with_samples() -> None:
    few, enough = [1.0] * (LEAST_SAMPLES - 1), [1.0] * (LEAST_SAMPLES - 1) + [2.0]
    assert boxes({"few": few, "none": []}, "time", "s") is None
    drawing = boxes({"few": few, "enough": enough}, "time", "s")
    assert drawing is not None
    svg = rows_of(drawing)
    assert svg is not None
    assert f"enough (n = {LEAST_SAMPLES})" in svg
    assert "few" not in svg
