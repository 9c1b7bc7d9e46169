"""A campaign whose processes are killed is taken up again, and ends with the same tables."""

import os
import random
import signal
import subprocess
import uuid
from functools import partial
from pathlib import Path

import pytest
from tests.campaign.tables import contents, done
from tests.engine.launch import MARK, environment, finish, run, start, wait_for
from tests.engine.system import marked

SCENARIO = """\
name: killed
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 20 Mbit/s, delay: 5 ms, loss: 1 %}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 15 ms}
traffic: [{http: {from: client, to: server, size: 3 MB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  mptcp: {}
repetitions: 2
sweep: {drawn: {count: 25, values: {links.a.delay: {uniform: {from: 1 ms, to: 50 ms}}}}}
"""
RUNS = 100
KILLS = int(os.environ.get("MPTCPLAB_TEST_KILLS", "10"))
SWEEP = ["sweep", "killed.yaml", "--engine", "sim", "--workers", "2", "--out"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "killed.yaml").write_text(SCENARIO)
    return tmp_path


def is_done(out: Path, runs: int) -> bool:
    """Whether so many runs are there."""
    return done(out, RUNS) >= runs


def test_killed_commands_and_workers_leave_the_tables_of_one_that_was_not(folder: Path) -> None:
    drawn = random.Random(15)
    mark, killed = uuid.uuid4().hex, folder / "killed"
    env = environment(folder / "home", **{MARK: mark})
    process: subprocess.Popen[str] | None = None
    for number in range(1, KILLS + 1):
        if process is None or process.poll() is not None:
            process = start([*SWEEP, "killed"], folder, env=env)
        # One run more at least, so that none has three workers end with it under way.
        least = max(done(killed, RUNS) + 1, number * RUNS // (KILLS + 2))
        wait_for("runs", partial(is_done, killed, least))
        workers = [pid for pid in marked(f"{MARK}={mark}") if pid != process.pid]
        victim = drawn.choice([process.pid, *workers])
        before = done(killed, RUNS)
        os.kill(victim, signal.SIGKILL)
        if victim == process.pid:
            process.communicate()
        assert done(killed, RUNS) >= before
    assert process is not None
    process.kill()
    process.communicate()
    last = run([*SWEEP, "killed"], folder)
    assert last.returncode == 0, last.stderr
    assert f"killed: {RUNS} runs: " in last.stderr
    whole = run([*SWEEP, "whole", "--workers", "1"], folder)
    assert whole.returncode == 0, whole.stderr
    assert contents(killed) == contents(folder / "whole")
    assert last.stdout == whole.stdout
    wait_for("the end of all workers", lambda: not marked(f"{MARK}={mark}"))


def test_ctrl_c_keeps_what_was_done(folder: Path) -> None:
    process = start([*SWEEP, "out"], folder)
    wait_for("runs", lambda: done(folder / "out", RUNS) >= 10)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.returncode == 130
    assert "interrupted: the same command with --out" in ended.stderr
    kept = done(folder / "out", RUNS)
    assert 10 <= kept < RUNS
    assert f"{kept} of {RUNS} runs done" in ended.stdout
    again = run([*SWEEP, "out"], folder)
    assert f"out: {RUNS} runs: {kept} found, {RUNS - kept} done" in again.stderr


def test_a_line_that_a_kill_tore_is_done_again(folder: Path) -> None:
    process = start([*SWEEP, "out"], folder)
    wait_for("runs", lambda: done(folder / "out", RUNS) >= 5)
    process.kill()
    process.communicate()
    (journal,) = (folder / "out" / "journal").glob("*.jsonl")
    wait_for("the end of the workers", lambda: run_is_over(folder / "out"))
    journal.write_bytes(journal.read_bytes()[:-20])
    kept = done(folder / "out", RUNS)
    again = run([*SWEEP, "out"], folder)
    assert f"out: {RUNS} runs: {kept} found, {RUNS - kept} done" in again.stderr


def run_is_over(out: Path) -> bool:
    """Whether no process holds the folder."""
    import fcntl

    with (out / "lock").open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
