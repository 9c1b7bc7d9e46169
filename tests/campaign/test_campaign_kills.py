"""A campaign whose processes are killed is taken up again, and ends with the same tables."""

import json
import os
import random
import signal
import subprocess
import uuid
from functools import partial
from pathlib import Path

import pytest
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
KILLS = int(os.environ.get("MPTCPLAB_TEST_KILLS", "3"))
SWEEP = ["sweep", "killed.yaml", "--engine", "sim", "--workers", "2", "--out"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "killed.yaml").write_text(SCENARIO)
    return tmp_path


def done(out: Path) -> int:
    """How many runs are in the journals, or all where there is none left."""
    journals = list((out / "journal").glob("*.jsonl"))
    whole = len(list((out / "runs").glob("*.parquet")))
    return RUNS if whole else sum(one.read_bytes().count(b"\n") for one in journals)


def is_done(out: Path, runs: int) -> bool:
    """Whether so many runs are there."""
    return done(out) >= runs


def contents(out: Path) -> dict[str, bytes]:
    """The tables by name, and the description but for its time and command."""
    files = {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.suffix in (".parquet", ".jsonl")
    }
    told = json.loads((out / "sweep.json").read_text())
    told["result"] |= {"created": "", "command": []}
    return files | {"sweep.json": json.dumps(told).encode()}


def test_killed_commands_and_workers_leave_the_tables_of_one_that_was_not(folder: Path) -> None:
    drawn = random.Random(15)
    mark = uuid.uuid4().hex
    env = environment(folder / "home", **{MARK: mark})
    for number in range(KILLS):
        process: subprocess.Popen[str] = start([*SWEEP, "killed"], folder, env=env)
        before = done(folder / "killed")
        wanted = min(RUNS - 5, before + drawn.randint(0, RUNS // (KILLS + 1)))
        wait_for("runs", partial(is_done, folder / "killed", wanted))
        workers = [pid for pid in marked(f"{MARK}={mark}") if pid != process.pid]
        victim = drawn.choice([process.pid, *workers]) if number else process.pid
        os.kill(victim, signal.SIGKILL)
        if victim != process.pid:
            # Its runs are given to another one; then the command is killed as well.
            until = min(RUNS - 1, done(folder / "killed") + 1)
            wait_for("more", partial(is_done, folder / "killed", until))
            process.kill()
        process.communicate()
        assert done(folder / "killed") >= before
    last = run([*SWEEP, "killed"], folder)
    assert last.returncode == 0, last.stderr
    assert f"killed: {RUNS} runs: " in last.stderr
    whole = run([*SWEEP, "whole", "--workers", "1"], folder)
    assert whole.returncode == 0, whole.stderr
    assert contents(folder / "killed") == contents(folder / "whole")
    assert last.stdout == whole.stdout
    wait_for("the end of all workers", lambda: not marked(f"{MARK}={mark}"))


def test_ctrl_c_keeps_what_was_done(folder: Path) -> None:
    process = start([*SWEEP, "out"], folder)
    wait_for("runs", lambda: done(folder / "out") >= 10)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.returncode == 130
    assert "interrupted: the same command with --out" in ended.stderr
    kept = done(folder / "out")
    assert 10 <= kept < RUNS
    assert f"{kept} of {RUNS} runs done" in ended.stdout
    again = run([*SWEEP, "out"], folder)
    assert f"out: {RUNS} runs: {kept} found, {RUNS - kept} done" in again.stderr


def test_a_line_that_a_kill_tore_is_done_again(folder: Path) -> None:
    process = start([*SWEEP, "out"], folder)
    wait_for("runs", lambda: done(folder / "out") >= 5)
    process.kill()
    process.communicate()
    (journal,) = (folder / "out" / "journal").glob("*.jsonl")
    wait_for("the end of the workers", lambda: run_is_over(folder / "out"))
    journal.write_bytes(journal.read_bytes()[:-20])
    kept = done(folder / "out")
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
