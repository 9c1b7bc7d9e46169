"""Senders of limited rate and datagrams, alike on both engines."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import TCP, two_paths

from mptcplab.recording import Recording

pytestmark = needs_mptcp


def recorded(folder: Path, traffic: str, engine: str) -> Recording:
    scenario = two_paths(folder, "limited", f"traffic:\n{traffic}{TCP}")
    ended = run(["run", scenario, "--engine", engine, "--out", engine], folder)
    assert ended.returncode == 0, ended.stderr
    return Recording.open(folder / engine / "tcp/1")


@pytest.mark.parametrize("engine", ["kernel", "sim"])
def test_a_sender_of_limited_rate_is_never_ahead_of_it(tmp_path: Path, engine: str) -> None:
    traffic = "  - bulk: {from: client, to: server, rate: 1 Mbit/s, size: 50 kB}\n"
    (transfer,) = recorded(tmp_path, traffic, engine).transfers.to_dicts()
    assert transfer["bytes"] == 50_000
    assert transfer["end_ns"] - transfer["connected_ns"] >= 400_000_000


def test_both_engines_send_and_deliver_the_same_datagrams(tmp_path: Path) -> None:
    """In bursts that the seed draws, there and back; nothing is lost on links that are wide."""
    pattern = (
        "rate: 1 Mbit/s, packet: 200 B, duration: 500 ms, on_off: {burst: 50 ms, pause: 30 ms}"
    )
    traffic = f"  - datagrams: {{from: client, to: server, direction: both, {pattern}}}\n"
    offered, delivered = [], []
    for engine in ("kernel", "sim"):
        recording = recorded(tmp_path, traffic, engine)
        samples = recording.link_samples.filter(link="a").group_by("from")
        offered.append(samples.agg(pl.col("offered_packets").max()).sort("from").rows())
        assert recording.deliveries["bytes"].sum() % 172 == 0
        delivered.append(set(recording.deliveries["way"]))
    assert offered[0] == offered[1]
    assert all(count > 50 for _, count in offered[0])
    assert delivered == [{"up", "down"}] * 2
