"""`mptcplab sweep --cluster`: on a scheduler and workers of Dask, as on one machine."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.campaign.dask_processes import DaskProcesses, python_path, wait_for
from tests.campaign.tables import contents, done
from tests.engine.launch import REPOSITORY, finish, run, start

SCENARIO = """\
name: spread
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], trace: ../traces/slow.trace, delay: 5 ms, loss: 1 %}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 15 ms}
traffic: [{http: {from: client, to: server, size: 1 MB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  mptcp: {}
repetitions: 2
sweep:
  axes: {links.a.trace: [../traces/slow.trace, fast.trace]}
  drawn: {count: 5, values: {links.a.delay: {uniform: {from: 1 ms, to: 50 ms}}}}
"""
RUNS = 40
SWEEP = ["sweep", "own/spread.yaml", "--engine", "sim", "--out"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {
        "own/spread.yaml": SCENARIO,
        "own/fast.trace": "1\n2\n",
        "traces/slow.trace": "3\n6\n9\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    made = DaskProcesses(tmp_path / "dask")
    yield made
    made.end()


def test_the_tables_are_those_of_one_machine(folder: Path, cluster: DaskProcesses) -> None:
    cluster.start_worker()
    cluster.start_worker("--nthreads", "2", "--no-nanny")
    words = [*SWEEP, "out", "--cluster", cluster.address]
    ended = run(words, folder)
    assert ended.returncode == 0, ended.stderr
    assert f"out: {RUNS} runs: 0 found, {RUNS} done" in ended.stderr
    whole = run([*SWEEP, "whole"], folder)
    assert contents(folder / "out") == contents(folder / "whole")
    assert ended.stdout == whole.stdout
    again = run(words, folder)
    assert f"out: {RUNS} runs: {RUNS} found, 0 done" in again.stderr


def test_ctrl_c_keeps_what_was_done_and_cancels_the_rest(
    folder: Path, cluster: DaskProcesses
) -> None:
    words = [*SWEEP, "out", "--set", "traffic.0.http.size=4 MB", "--cluster", cluster.address]
    process = start(words, folder)
    # Without a worker it waits for one.
    cluster.start_worker()
    wait_for("runs", lambda: done(folder / "out", RUNS) >= 4)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.returncode == 130
    assert "interrupted: the same command with --out" in ended.stderr
    kept = done(folder / "out", RUNS)
    assert 4 <= kept < RUNS
    again = run([*words], folder)
    assert f"out: {RUNS} runs: {kept} found, {RUNS - kept} done" in again.stderr


def test_a_worker_of_another_build_is_named(folder: Path, cluster: DaskProcesses) -> None:
    other = folder / "other" / "mptcplab"
    ignored = shutil.ignore_patterns("__pycache__", "scenarios")
    shutil.copytree(REPOSITORY / "python" / "mptcplab", other, ignore=ignored)
    (extension,) = other.glob("_native*.so")
    with extension.open("ab") as file:
        file.write(b"another")
    words = [*SWEEP, "out", "--cluster", cluster.address]
    # One that is there beforehand, and one that comes when the command waits for workers.
    worker = cluster.start_worker(PYTHONPATH=python_path(other.parent))
    first = run(words, folder)
    worker.kill()
    process = start(words, folder)
    wait_for("the command to wait", lambda: (folder / "out" / "lock").exists())
    cluster.start_worker(PYTHONPATH=python_path(other.parent))
    for ended in (first, finish(process)):
        assert ended.returncode == 1
        (line,) = ended.stderr.splitlines()
        assert line.startswith("the worker tcp://127.0.0.1:")
        assert "has the extension module " in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tls-ca", "none"], "--tls-ca, --tls-cert, --tls-key: they go with --cluster ADDRESS"),
        (["--cluster", "tcp://[::1]:1", "--workers", "2"], "--workers: the cluster has workers of"),
        (["--cluster", "tcp://[::1]:1", "--samples"], "--samples: recordings stay on one machine"),
        (["--cluster", "tcp://192.0.2.1:1"], "--cluster tcp://192.0.2.1:1: beyond the loopback on"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, words: list[str], message: str) -> None:
    ended = run([*SWEEP, "out", *words], folder)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith(message)


def test_a_trace_that_would_not_travel_is_refused(folder: Path) -> None:
    fast = folder / "own" / "fast.trace"
    words = ["--axis", f"links.a.trace={fast}", "--cluster", "tcp://127.0.0.1:1"]
    ended = run([*SWEEP, "out", *words], folder)
    assert ended.returncode == 1
    assert f"the trace {fast} has an absolute path" in ended.stderr
