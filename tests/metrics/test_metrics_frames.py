from pathlib import Path

import pytest
from tests.metrics.plans import two_paths
from tests.recording.handmade import manifest, record

from mptcplab.metrics import measure
from mptcplab.plan.traffic import StreamWorkload

MS = 1_000_000
STREAM = {
    "kind": "stream",
    "way": "down",
    "rate_bps": 8_000_000,
    "frame_bytes": 40_000,
    "deadline_ns": 100 * MS,
    "duration_ns": 200 * MS,
}
"""Five frames, 40 ms apart."""


def figures(folder: Path, *delays_ns: int) -> dict[str, float | None]:
    rows = [
        {"traffic": "bulk", "way": "down", "sequence": n, "t_ns": 40 * MS * n, "delay_ns": delay}
        for n, delay in enumerate(delays_ns)
    ]
    plan = two_paths(workload=STREAM)
    metrics = measure(record(folder, {"frames": rows}, manifest(plan=plan))).metrics
    return {name: value for name, value in metrics.items() if name.startswith("frame")}


def test_frames_are_in_time_up_to_their_deadline_late_after_it_or_lost(tmp_path: Path) -> None:
    found = figures(tmp_path / "r", 10 * MS, 100 * MS, 100 * MS + 1)
    assert found["frames_in_time"] == 0.4
    assert found["frames_late"] == 0.2
    assert found["frames_lost"] == pytest.approx(0.4)
    assert found["frame_delay_s"] == pytest.approx(0.07, abs=1e-6)
    assert found["frame_delay_s.p50"] == pytest.approx(0.1)
    assert found["frames_late.bulk"] == 0.2
    assert found["frame_delay_s.bulk.p50"] == pytest.approx(0.1)


def test_where_nothing_came_every_frame_is_lost(tmp_path: Path) -> None:
    found = figures(tmp_path / "r")
    assert (found["frames_in_time"], found["frames_late"], found["frames_lost"]) == (0, 0, 1)
    assert found["frame_delay_s"] is None


def test_a_frame_whose_time_begins_before_the_end_is_made() -> None:
    stream = StreamWorkload.model_validate(STREAM, strict=False)
    longer = stream.model_copy(update={"duration_ns": 200 * MS + 1})
    assert (stream.frames, longer.frames) == (5, 6)


def test_without_streams_there_are_no_frames(tmp_path: Path) -> None:
    metrics = measure(record(tmp_path / "r", {})).metrics
    assert [name for name in metrics if name.startswith("frame")] == []
