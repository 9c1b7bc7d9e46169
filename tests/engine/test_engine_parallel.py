"""Several runs at once, of several commands or of one, do not disturb each other."""

import os
import signal
import time
from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import MARK, environment, finish, start, wait_for
from tests.engine.system import marked, needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.cli.interruption import ONE_REQUEST_S
from mptcplab.engine.job import Job, NullProgress, Task
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.recording import Recording, Status
from mptcplab.scenario import load

pytestmark = needs_mptcp

RUNS = 4
SIZE_BYTES = 2_000_000
TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, size: 2 MB}
  - http: {from: client, to: server, size: 1 MB, count: 2}
"""
MEETING = """\
traffic:
  - command: {{on: client, run: {first}}}
variants:
  first: {{protocol: mptcp}}
  second: {{protocol: mptcp, set: {{traffic.0.command.run: {second}}}}}
repetitions: 1
"""
STUBBORN = """\
traffic:
  - bulk: {{from: client, to: server, way: up, duration: 60 s}}
  - command: {{on: client, run: {program}}}
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


def test_workers_are_runs_at_once(tmp_path: Path) -> None:
    def ends_after(own: str, other: str) -> str:
        file = tmp_path / f"{own}.sh"
        wait = f"until test -e {tmp_path}/{other}; do sleep 0.02; done"
        file.write_text(f"touch {tmp_path}/{own}\n{wait}\n")
        return f"sh {file}"

    rest = MEETING.format(first=ends_after("a", "b"), second=ends_after("b", "a"))
    scenario = two_paths(tmp_path, "meeting", rest)
    ended = finish(start(["run", scenario, "--workers", "2", "--out", "out"], tmp_path))
    assert ended.returncode == 0, ended.stderr
    for variant in ("first", "second"):
        recording = Recording.open(tmp_path / "out" / variant / "1")
        assert recording.manifest.status is Status.COMPLETE
        assert recording.frame("programs")["status"].to_list() == [0]


def test_after_a_failure_no_run_begins(tmp_path: Path) -> None:
    short = TRAFFIC.replace("2 MB", "10 kB").replace("1 MB", "10 kB")
    scenario = load(two_paths(tmp_path, "short", short + MPTCP))
    folders = [tmp_path / f"recording-{number}" for number in range(6)]
    folders[0].mkdir()
    (folders[0] / "taken").touch()
    jobs = [Job(Task(scenario, "mptcp", 1, 1), folder) for folder in folders]
    (failure,) = KernelEngine(workers=2).execute(jobs, NullProgress())
    assert "recording-0" in failure
    assert not folders[-1].exists()


@pytest.mark.parametrize("signals", [1, 2])
def test_signals_end_all_runs_that_go_on(tmp_path: Path, signals: int) -> None:
    program = tmp_path / "program.sh"
    program.write_text(
        f"trap 'mktemp {tmp_path}/asked-XXXXXX' TERM\n"
        f"sleep 1\nmktemp {tmp_path}/run-XXXXXX\n"
        "while true; do sleep 0.1; done\n"
    )
    rest = MPTCP.replace("repetitions: 1", "repetitions: 3")
    scenario = two_paths(tmp_path, "long", STUBBORN.format(program=f"sh {program}") + rest)
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    process = start(["run", scenario, "--workers", "2", "--out", "out"], tmp_path, env=env)
    wait_for("both runs", lambda: len(list(tmp_path.glob("run-*"))) == 2)
    os.killpg(process.pid, signal.SIGINT)
    if signals == 2:
        wait_for("the first signal's effect", lambda: len(list(tmp_path.glob("asked-*"))) == 2)
        time.sleep(1.5 * ONE_REQUEST_S)
        os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)

    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    wait_for("the end of all processes", lambda: not marked(f"{MARK}={tmp_path.name}"))
    recordings = [Recording.open(tmp_path / f"out/mptcp/{number}") for number in (1, 2)]
    assert all(one.manifest.status is not Status.COMPLETE for one in recordings)
    if signals == 1:
        assert all(one.frame("transfers")["bytes"].item() > 0 for one in recordings)
    assert not (tmp_path / "out/mptcp/3").exists()
