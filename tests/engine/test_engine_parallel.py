"""Several runs at once do not disturb each other."""

from pathlib import Path

import polars as pl
from tests.engine.launch import finish, start
from tests.engine.system import needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.recording import Recording, Status

pytestmark = needs_mptcp

RUNS = 4
SIZE_BYTES = 2_000_000
TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, size: 2 MB}
  - http: {from: client, to: server, size: 1 MB, count: 2}
"""


def test_runs_at_once_have_the_same_addresses_and_all_deliver_everything(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "parallel", TRAFFIC + MPTCP)
    results = [tmp_path / f"out-{number}" for number in range(RUNS)]
    running = [start(["run", scenario, "--json", "--out", out], tmp_path) for out in results]
    for ended in [finish(process) for process in running]:
        assert ended.returncode == 0, ended.stderr

    recordings = [Recording.open(out / "mptcp" / "1") for out in results]
    assert [one.manifest.status for one in recordings] == [Status.COMPLETE] * RUNS
    assert all(one.manifest.plan == recordings[0].manifest.plan for one in recordings)
    for recording in recordings:
        transfers = recording.scan("transfers").collect()
        assert transfers["error"].null_count() == len(transfers)
        delivered = transfers.group_by("kind").agg(pl.col("bytes").sort()).sort("kind")
        assert delivered["bytes"].to_list() == [[SIZE_BYTES], [SIZE_BYTES // 2] * 2]
