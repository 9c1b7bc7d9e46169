"""Whatever of a run is killed, at whatever moment: nothing is left, and no file is half written."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.cell import CELL, cell_refused, cover, needed_folders, shell
from tests.engine.kills import ROLES
from tests.engine.launch import REPOSITORY, environment
from tests.engine.leftovers import SYSTEM_FOLDERS
from tests.engine.system import mptcp_missing

pytestmark = pytest.mark.skipif(
    (cell_refused() or mptcp_missing()) is not None, reason=str(cell_refused() or mptcp_missing())
)

KILLS = 104


def test_a_hundred_killed_runs_leave_nothing_behind(tmp_path: Path) -> None:
    seed = int(os.environ.get("MPTCPLAB_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"MPTCPLAB_TEST_SEED={seed}")
    covers = [line for folder in SYSTEM_FOLDERS for line in cover(folder, needed_folders())]
    work = "mkdir -p /tmp/runs/home; cd /tmp/runs"
    kills = [sys.executable, "-m", "tests.engine.kills", "/tmp/runs", str(seed), str(KILLS)]
    campaign = subprocess.run(
        [*CELL, *shell([*covers, work], kills)],
        env=environment(tmp_path, PYTHONPATH=str(REPOSITORY))
        | {"HOME": "/tmp/runs/home", "TMPDIR": "/tmp"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert campaign.returncode == 0, campaign.stderr
    found = json.loads(campaign.stdout)
    print(found["kills"], found["statuses"])

    assert found["whole"] == [0, ""], "the run that nobody kills"
    assert sum(found["kills"].values()) >= KILLS
    assert all(found["kills"][role] >= KILLS // 10 for role in ROLES), found["kills"]
    assert found["stuck"] == [], "processes outlived their command line"
    assert found["processes"] == []
    assert found["namespaces"] == [], "namespaces that something still holds"
    assert not found["network_changed"]
    assert found["files"] == []
    assert found["damaged"] == []
    assert found["statuses"].get("interrupted", 0) > 0
    assert "running" not in found["statuses"]
    assert found["tracebacks"] == []
    assert found["told"], "no run lived to tell"
    for victim, status, words, recordings in found["told"]:
        if recordings.keys() == {"complete"}:
            # The kill came after its last word.
            assert status == 0, (victim, words)
            continue
        assert status == 1, (victim, words)
        assert "the lab process ended unexpectedly" in words
