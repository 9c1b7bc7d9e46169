"""The sim engine's recordings, worker processes and end."""

import hashlib
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.engine.cell import CELL, cell_refused, shell
from tests.engine.launch import COMMAND, MARK, environment, finish, run, start, wait_for
from tests.engine.system import marked
from tests.engine.worlds import two_paths

from mptcplab.engine import EngineError
from mptcplab.engine import run as run_once
from mptcplab.engine.sim.process import Worker
from mptcplab.recording import Recording, Status
from mptcplab.recording.tables import TABLES
from mptcplab.scenario import load, with_duration

SHORT = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 500 ms}
  - http: {from: client, to: server, size: 100 kB, count: 3}
  - ping: {from: client, to: server, count: 5}
events:
  - {at: 200 ms, carrier: b, up: false}
  - {at: 300 ms, carrier: b, up: true}
variants:
  tcp: {protocol: tcp, via: a}
  mptcp: {protocol: mptcp}
repetitions: 2
"""
LONG = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 10000 s}
variants:
  tcp: {protocol: tcp, via: a}
repetitions: 3
"""
PINNED = "f670ba2821da007775b70c6f585b9459af6ff222af299f68e61ebc752e766c14"


def files(folder: Path) -> dict[str, str]:
    """Every file below a folder by its name there, with the hash of its content."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows_hash(recording: Recording) -> str:
    """A hash of all rows of all tables, whatever library wrote the files."""
    digest = hashlib.sha256()
    for name in TABLES:
        digest.update(recording.frame(name).write_ndjson().encode())
    return digest.hexdigest()


def simulate(folder: Path, scenario: Path, out: str, *words: str) -> Path:
    ended = run(["run", scenario, "--engine", "sim", "--json", "--out", out, *words], folder)
    assert ended.returncode == 0, ended.stderr
    return folder / out


def test_the_recordings_are_the_same_for_every_number_of_workers(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "same", SHORT)
    one = simulate(tmp_path, scenario, "one", "--workers", "1", "--capture")
    three = simulate(tmp_path, scenario, "three", "--workers", "3", "--capture")
    made = {name: of for name, of in files(one).items() if "/" in name}
    assert made == {name: of for name, of in files(three).items() if "/" in name}
    assert {"mptcp/2/manifest.json", "mptcp/2/client-a.pcapng"} <= made.keys()


def test_another_seed_gives_other_rows(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "lossy", SHORT.partition("events:")[0])
    text = scenario.read_text().replace("delay: 5 ms", "delay: 5 ms, loss: 2 %")
    scenario.write_text(text)
    recordings = [
        run_once(load(scenario), "mptcp", tmp_path / str(number), seed=seed, engine="sim")
        for number, seed in enumerate((1, 2, 1))
    ]
    first, second, again = map(rows_hash, recordings)
    assert first == again
    assert first != second


def test_the_rows_of_a_seed_are_pinned(tmp_path: Path) -> None:
    scenario = with_duration(load("lisbon/A1"), 1_000_000_000)
    recording = run_once(scenario, "mptcp", tmp_path / "pinned", engine="sim")
    assert rows_hash(recording) == PINNED


def test_a_manifest_tells_nothing_of_the_machine_or_the_day(tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    scenario = with_duration(load("lisbon/A1"), 100_000_000)
    manifest = run_once(scenario, "tcp-eth", folder, engine="sim", captures=True).manifest
    assert (manifest.engine, manifest.status) == ("sim", Status.COMPLETE)
    assert (manifest.started, manifest.kernel, manifest.host) == (None, None, {})
    assert manifest.plan["capture"]["folder"] == "."  # type: ignore[index]
    assert str(folder) not in (folder / "manifest.json").read_text()
    assert manifest.settings == {"congestion_control": ["cubic"]}


def test_ctrl_c_keeps_what_was_done_and_ends_the_workers(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "long", LONG)
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    process = start(
        ["run", scenario, "--engine", "sim", "--workers", "2", "--out", "out"], tmp_path, env=env
    )
    wait_for("both workers", lambda: len(marked(mark)) >= 3)
    wait_for("the first runs", lambda: (tmp_path / "out" / "tcp" / "2").is_dir())
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.returncode == 130, ended.stderr
    wait_for("the end of all processes", lambda: not marked(mark))
    recordings = [Recording.open(tmp_path / "out" / "tcp" / n) for n in "12"]
    assert [one.manifest.status for one in recordings] == [Status.INTERRUPTED] * 2
    for one in recordings:
        transfers = one.frame("transfers")
        assert set(transfers["error"]) == {"interrupted"}
        assert transfers["bytes"].min() > 0  # type: ignore[operator]
    assert not (tmp_path / "out" / "tcp" / "3").exists()
    assert "2 of 3" in ended.stdout or "0 of 3 repetitions complete" in ended.stdout


def test_the_workers_end_with_the_command_that_was_killed(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "killed", LONG)
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    process = start(["run", scenario, "--engine", "sim", "--out", "out"], tmp_path, env=env)
    wait_for("a worker's run", lambda: (tmp_path / "out" / "tcp" / "1").is_dir())
    process.kill()
    process.communicate()
    wait_for("the end of all workers", lambda: not marked(mark))


def test_answers_that_come_together_are_all_taken() -> None:
    said = 'printf \'{"reached": 1.5}\\n{"ended": null}\\n{"rea\''
    worker = Worker(subprocess.Popen(["sh", "-c", said], stdout=subprocess.PIPE))
    worker.process.wait()
    assert worker.answers() == [{"reached": 1.5}, {"ended": None}]
    assert not worker.is_gone
    assert worker.answers() == []
    assert worker.is_gone
    worker.end()


def test_a_worker_that_dies_fails_its_run_and_no_other_begins(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "dying", LONG)
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    process = start(
        ["run", scenario, "--engine", "sim", "--workers", "1", "--out", "out"], tmp_path, env=env
    )
    wait_for("the worker's run", lambda: (tmp_path / "out" / "tcp" / "1").is_dir())
    (worker,) = [pid for pid in marked(mark) if pid != process.pid]
    os.kill(worker, signal.SIGKILL)
    ended = finish(process)
    assert ended.returncode == 1
    assert "the worker process ended unexpectedly (status -9)" in ended.stderr
    assert not (tmp_path / "out" / "tcp" / "2").exists()


def test_a_plan_that_cannot_be_simulated_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mptcplab.engine.sim.refuse.CONGESTION_CONTROLS", ("vegas",))
    scenario = two_paths(tmp_path, "vegas", SHORT)
    text = scenario.read_text().replace("b: {}}}", "b: {}}, congestion_control: vegas}")
    scenario.write_text(text)
    with pytest.raises(EngineError, match="vegas"):
        run_once(load(scenario), "mptcp", tmp_path / "out", engine="sim")
    assert Recording.open(tmp_path / "out").manifest.status is Status.FAILED


@pytest.mark.skipif(cell_refused() is not None, reason=str(cell_refused()))
def test_without_namespaces_auto_simulates_and_says_why(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "contained", SHORT)
    forbid = [
        "echo 0 > /proc/sys/user/max_user_namespaces",
        "echo 0 > /proc/sys/user/max_net_namespaces",
    ]
    words: list[str | Path] = [COMMAND, "run", scenario, "--out", tmp_path / "out"]
    ended = subprocess.run(
        [*CELL, *shell(forbid, words)],
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert (
        "contained runs on the sim engine: this system allows no namespaces here (" in ended.stderr
    )
    assert Recording.open(tmp_path / "out" / "mptcp" / "1").manifest.engine == "sim"
