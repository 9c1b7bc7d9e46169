"""Links carry the packets of the traffic and nothing beside them."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import TCP, two_paths

from mptcplab.recording import Recording

pytestmark = needs_mptcp

TRAFFIC = """\
traffic:
  - ping: {from: client, to: server, count: 3, interval: 10 ms}
"""


def test_no_question_for_a_neighbour_takes_part_in_losses_and_queues(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "echo", TRAFFIC + TCP)
    ended = run(["run", scenario, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    recording = Recording.open(tmp_path / "out/tcp/1")
    assert recording.scan("latencies").collect()["rtt_ns"].null_count() == 0
    offered = (
        recording.scan("link_samples")
        .group_by("link", "from")
        .agg(pl.col("offered_packets").max())
        .sort("link", "from")
        .collect()["offered_packets"]
        .to_list()
    )
    assert offered == [3, 3, 0, 0]


@pytest.mark.parametrize("engine", ["kernel", "sim"])
def test_a_burst_passes_at_once_where_the_rates_bucket_holds_it(
    tmp_path: Path, engine: str
) -> None:
    """Seven packets at once, through a queue of two and a rate of four a second."""
    slow = "rate: 48 kbit/s, burst: 15 kB, queue: 2 packets"
    traffic = "traffic:\n  - http: {from: client, to: server, size: 10 kB}\n"
    scenario = two_paths(tmp_path, "burst", traffic + TCP)
    scenario.write_text(scenario.read_text().replace("rate: 20 Mbit/s", slow, 1))
    ended = run(["run", scenario, "--engine", engine, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    recording = Recording.open(tmp_path / "out/tcp/1")
    last = recording.scan("link_samples").group_by("link", "from").agg(pl.all().max()).collect()
    on_a = last.filter(link="a")
    assert on_a["dropped_queue"].to_list() == [0, 0]
    assert max(on_a["delivered_bytes"].to_list()) > 10_000
    assert recording.scan("transfers").collect()["bytes"].to_list() == [10_000]


@pytest.mark.parametrize("engine", ["kernel", "sim"])
def test_directions_of_a_half_duplex_link_share_what_its_trace_carries(
    tmp_path: Path, engine: str
) -> None:
    """Both ways together take the time of the trace that both need, where each has half of it."""
    tmp_path.joinpath("t.mahi").write_text("1\n2\n3\n20\n")
    traffic = "traffic:\n  - bulk: {from: client, to: server, direction: both, size: 100 kB}\n"
    scenario = two_paths(tmp_path, "shared", traffic + TCP)
    medium = "duplex: half, trace: t.mahi"
    scenario.write_text(scenario.read_text().replace("rate: 20 Mbit/s", medium, 1))
    ended = run(["run", scenario, "--engine", engine, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    transfers = Recording.open(tmp_path / "out/tcp/1").scan("transfers").collect()
    assert transfers["bytes"].to_list() == [100_000, 100_000]
    lasted_ns = max(transfers["end_ns"].to_list()) - min(transfers["start_ns"].to_list())
    whole_cycles = 200_000 // (4 * 1504) - 1
    assert lasted_ns > whole_cycles * 20 * 10**6
