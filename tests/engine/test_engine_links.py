"""Links carry the packets of the traffic and nothing beside them."""

from pathlib import Path

import polars as pl
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
