"""Streams of frames with a deadline, on both engines."""

from pathlib import Path

import pytest
from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import TCP, two_paths

from mptcplab.metrics import measure
from mptcplab.recording import Recording

pytestmark = needs_mptcp
MS = 1_000_000


def recorded(
    folder: Path, stream: str, engine: str, *, rest: str = "", link: str = ""
) -> Recording:
    ends = "from: client, to: server, direction: up"
    traffic = f"traffic:\n  - stream: {{{ends}, start: 100 ms, {stream}}}\n"
    scenario = two_paths(folder, "stream", traffic + rest + TCP)
    if link:
        scenario.write_text(scenario.read_text().replace("rate: 20 Mbit/s", link, 1))
    ended = run(["run", scenario, "--engine", engine, "--out", engine], folder)
    assert ended.returncode == 0, ended.stderr
    return Recording.open(folder / engine / "tcp/1")


def test_a_frames_delay_is_that_of_its_last_byte(tmp_path: Path) -> None:
    """The first waits for the handshake and for the programs, the others for their bits."""
    stream = "rate: 800 kbit/s, frame: 4 kB, deadline: 1 s, duration: 150 ms"
    frames = recorded(tmp_path, stream, "sim", link="rate: unlimited").frames
    assert frames["t_ns"].to_list() == [100 * MS, 140 * MS, 180 * MS, 220 * MS]
    first, *others = frames["delay_ns"].to_list()
    assert 15 * MS < first < 16 * MS
    assert len(others) == 3
    # A host takes 15 to 57 µs to handle a packet.
    assert all(5_015_000 <= delay_ns <= 5_057_000 for delay_ns in others)


@pytest.mark.parametrize("engine", ["kernel", "sim"])
def test_frames_of_an_outage_are_late(tmp_path: Path, engine: str) -> None:
    """Those are sent again, or at all, when it is over; nothing is in time that was made in it."""
    stream = "rate: 800 kbit/s, frame: 4 kB, deadline: 200 ms, duration: 2 s"
    outage = "events:\n  - {at: 700 ms, link: a, up: false}\n  - {at: 1200 ms, link: a, up: true}\n"
    recording = recorded(tmp_path, stream, engine, rest=outage)
    frames = recording.frames
    assert frames["sequence"].to_list() == sorted(frames["sequence"])
    (transfer,) = recording.transfers.to_dicts()
    made = [transfer["start_ns"] + 40 * MS * number for number in frames["sequence"]]
    assert frames["t_ns"].to_list() == made
    in_outage = [delay for t, delay in frames["t_ns", "delay_ns"].rows() if 0.7e9 < t < 0.95e9]
    assert min(in_outage, default=10**9) > 200 * MS
    metrics = measure(recording).metrics
    shares = [metrics[f"frames_{name}"] or 0.0 for name in ("in_time", "late", "lost")]
    assert sum(shares) == pytest.approx(1)
    assert shares[0] < 0.9


@pytest.mark.parametrize("engine", ["kernel", "sim"])
def test_a_path_that_carries_half_of_a_stream_loses_frames_of_it(
    tmp_path: Path, engine: str
) -> None:
    """55 kB at most until the end, which are 13 frames of 25."""
    stream = "rate: 800 kbit/s, frame: 4 kB, deadline: 100 ms, duration: 1 s"
    metrics = measure(recorded(tmp_path, stream, engine, link="rate: 400 kbit/s")).metrics
    assert (metrics["frames_lost"] or 0.0) >= 12 / 25
