"""Ctrl-C and a polite kill keep what was measured; a second one ends everything at once."""

import os
import signal
import time
from pathlib import Path

import pytest
from tests.engine.launch import MARK, environment, finish, start, wait_for
from tests.engine.system import marked, needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.cli.interruption import ONE_REQUEST_S
from mptcplab.recording import Recording, Status

pytestmark = needs_mptcp

TRAFFIC = """\
traffic:
  - bulk: {{from: client, to: server, way: up, duration: 60 s}}
  - command: {{on: client, run: touch {begun}, start: 1 s}}
"""
STUBBORN = """\
traffic:
  - bulk: {{from: client, to: server, way: up, duration: 60 s}}
  - command:
      on: client
      run: sh -c 'trap "touch {asked}" TERM; touch {begun}; while true; do sleep 0.1; done'
      server: {{on: server, run: sh -c 'trap "" TERM; while true; do sleep 0.1; done'}}
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_keeps_what_was_measured_and_reports(
    tmp_path: Path, number: signal.Signals
) -> None:
    begun = tmp_path / "begun"
    scenario = two_paths(tmp_path, "long", TRAFFIC.format(begun=begun) + MPTCP)
    process = start(["run", scenario, "--html", "--out", "out", "--repeat", "3"], tmp_path)
    wait_for("the traffic", begun.exists)
    os.killpg(process.pid, number)
    ended = finish(process)

    assert ended.returncode == 130, ended.stderr
    assert "interrupted: what was measured until then is kept" in ended.stderr
    assert "Traceback" not in ended.stderr
    recording = Recording.open(tmp_path / "out/mptcp/1")
    assert recording.manifest.status is Status.INTERRUPTED
    transfers = recording.scan("transfers").collect()
    assert transfers.height == 1
    assert transfers["bytes"].item() > 0
    assert transfers["error"].item() == "interrupted"
    assert (tmp_path / "out/report.html").read_text().rstrip().endswith("</html>")
    assert not (tmp_path / "out/mptcp/2").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_ends_everything_at_once(tmp_path: Path, number: signal.Signals) -> None:
    begun, asked = tmp_path / "begun", tmp_path / "asked"
    scenario = two_paths(tmp_path, "stubborn", STUBBORN.format(begun=begun, asked=asked) + MPTCP)
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    process = start(["run", scenario, "--out", "out"], tmp_path, env=env)
    wait_for("the command", begun.exists)
    os.killpg(process.pid, number)
    wait_for("the first signal's effect", asked.exists)
    time.sleep(1.5 * ONE_REQUEST_S)
    os.killpg(process.pid, number)
    ended = finish(process)

    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stderr.endswith(
        "aborted by a second signal: what was not written yet is lost\n"
    ), ended.stderr
    wait_for("the end of all processes", lambda: not marked(f"{MARK}={tmp_path.name}"))
    recording = Recording.open(tmp_path / "out/mptcp/1")
    assert recording.manifest.status is Status.INTERRUPTED
    assert not recording.has_tables, "it did not wait for the command's time of grace"


@pytest.mark.parametrize("apart_s", [0.0, 0.05])
def test_two_signals_at_once_are_one(tmp_path: Path, apart_s: float) -> None:
    begun = tmp_path / "begun"
    scenario = two_paths(tmp_path, "long", TRAFFIC.format(begun=begun) + MPTCP)
    process = start(["run", scenario, "--html", "--out", "out"], tmp_path)
    wait_for("the traffic", begun.exists)
    # As `timeout` does: the process, and its group.
    os.kill(process.pid, signal.SIGINT)
    time.sleep(apart_s)
    os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)

    assert ended.returncode == 130, ended.stderr
    assert ended.stderr.splitlines()[-1] == "interrupted: what was measured until then is kept"
    recording = Recording.open(tmp_path / "out/mptcp/1")
    assert recording.scan("transfers").collect()["bytes"].item() > 0
    assert (tmp_path / "out/report.html").exists()


def test_a_signal_before_the_first_run_ends_without_a_run(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "early", TRAFFIC.format(begun=tmp_path / "begun") + MPTCP)
    process = start(["run", scenario, "--out", "out"], tmp_path)
    wait_for("the result's folder", (tmp_path / "out/result.json").exists)
    os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "begun").exists()
