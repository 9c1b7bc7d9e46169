"""A sweep on a cluster whose processes are killed ends with the tables of one machine."""

import os
import random
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.campaign.dask_processes import DaskProcesses, wait_for
from tests.campaign.tables import contents, done
from tests.engine.launch import finish, run, start

from mptcplab.campaign.result import Sweep

SCENARIO = """\
name: killed
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 20 Mbit/s, delay: 5 ms, loss: 1 %}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 15 ms}
traffic: [{http: {from: client, to: server, size: 1 MB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  mptcp: {}
repetitions: 2
sweep: {drawn: {count: 25, values: {links.a.delay: {uniform: {from: 1 ms, to: 50 ms}}}}}
"""
RUNS = 100
KILLS = int(os.environ.get("MPTCPLAB_TEST_KILLS", "10"))
SWEEP = ["sweep", "killed.yaml", "--engine", "sim", "--out"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "killed.yaml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    made = DaskProcesses(tmp_path / "dask")
    yield made
    made.end()


def is_done(out: Path, runs: int) -> bool:
    """Whether so many runs are there."""
    return done(out, RUNS) >= runs


def test_any_process_may_be_killed(folder: Path, cluster: DaskProcesses) -> None:
    drawn = random.Random(15)
    victims = [("worker", "command", "scheduler")[number % 3] for number in range(KILLS)]
    drawn.shuffle(victims)
    out = folder / "killed"
    words = [*SWEEP, "killed", "--cluster", cluster.address]
    workers = [cluster.start_worker()]
    command: subprocess.Popen[str] | None = None
    for victim in victims:
        if command is None:
            command = start(words, folder)
        before = done(out, RUNS)
        wanted = min(RUNS - 5, before + drawn.randint(0, RUNS // (KILLS + 1)))
        wait_for("runs", partial(is_done, out, wanted))
        if victim == "worker":
            workers.pop().kill()
            workers.append(cluster.start_worker())
        elif victim == "command":
            command.kill()
            command.communicate()
            command = None
        else:
            cluster.scheduler.kill()
            ended = finish(command)
            assert ended.returncode == 1
            # It may not have been connected yet.
            line = ended.stderr.splitlines()[-1]
            assert "the scheduler has gone: what was done is kept" in line or "no scheduler" in line
            assert "Traceback" not in ended.stderr
            cluster.start_scheduler()
            workers = [cluster.start_worker()]
            command = None
        assert done(out, RUNS) >= before
    if command is not None:
        assert finish(command).returncode == 0
    last = run(words, folder)
    assert last.returncode == 0, last.stderr
    assert f"killed: {RUNS} runs: " in last.stderr
    whole = run([*SWEEP, "whole"], folder)
    assert contents(out) == contents(folder / "whole")
    assert last.stdout == whole.stdout


PRELOADED = """\
import os
from mptcplab.campaign.worker import Runner

class Deadly(Runner):
    def run(self, identity):
        if identity["run"] == 5:
            {act}
        return super().run(identity)

# Dask loads this file twice.
if Runner.__name__ != "Deadly":
    import mptcplab.campaign.worker
    mptcplab.campaign.worker.Runner = Deadly
"""


def test_a_run_that_ends_its_workers_fails_alone(folder: Path) -> None:
    (folder / "deadly.py").write_text(PRELOADED.format(act="os._exit(1)"))
    made = DaskProcesses(folder / "dask", DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    try:
        made.start_worker("--nthreads", "1", "--preload", str(folder / "deadly.py"))
        words = ["--draws", "5", "--cluster", made.address]
        ended = run([*SWEEP, "out", *words], folder)
    finally:
        made.end()
    assert ended.returncode == 1
    assert "out: 20 runs: 0 found, 20 done" in ended.stderr
    assert "1 of 20 runs failed" in ended.stdout
    failed = Sweep.open(folder / "out").store.scan("runs").filter(status="failed").collect()
    assert failed["run"].to_list() == [5]
    (why,) = failed["error"]
    assert why == "the worker that had this run ended unexpectedly, 1 times in a row"


def test_an_error_in_a_task_is_told_with_its_worker(folder: Path, cluster: DaskProcesses) -> None:
    # An error that cannot be pickled.
    (folder / "faulty.py").write_text(PRELOADED.format(act="raise ValueError(lambda: 0)"))
    cluster.start_worker("--no-nanny", "--nthreads", "1", "--preload", str(folder / "faulty.py"))
    ended = run([*SWEEP, "out", "--cluster", cluster.address], folder)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("the worker tcp://127.0.0.1:")
    assert ": ValueError: " in line
