"""`mptcplab run --live`, in virtual time."""

from __future__ import annotations

import hashlib
import os
import pty
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
from tests.engine.launch import COMMAND, environment, finish, run, start, wait_for
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.recording import Recording, Status
from mptcplab.recording.kept_rows import ROWS
from mptcplab.recording.manifest import MANIFEST

SHORT = "traffic:\n  - bulk: {from: client, to: server, way: up, duration: 2 s}\n" + MPTCP
LONG = SHORT.replace("2 s", "10000 s")


def files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_the_recording_is_the_same_as_without(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "short", SHORT)
    for out, words in (("plain", []), ("live", ["--live", "--json"])):
        ended = run(["run", scenario, "--engine", "sim", "--out", out, *words], tmp_path)
        assert ended.returncode == 0, ended.stderr
    assert files(tmp_path / "plain/mptcp/1") == files(tmp_path / "live/mptcp/1")


def test_a_run_can_be_read_and_is_kept_when_its_worker_is_killed(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "long", LONG)
    words = ["run", str(scenario), "--engine", "sim", "--serve", "--workers", "1", "--out", "out"]
    process = start(words, tmp_path)
    assert process.stderr is not None
    url = process.stderr.readline().split()[1]
    folder = tmp_path / "out/mptcp/1"
    wait_for("rows", lambda: (folder / ROWS).exists() and (folder / ROWS).stat().st_size)
    found = Recording.open(folder)
    assert found.manifest.status is Status.RUNNING
    assert found.interface_samples.height
    with urllib.request.urlopen(url, timeout=60) as answer:
        assert "long mptcp 1" in answer.read().decode()
    refused = run(["enter", "out", "client", "true"], tmp_path)
    assert "a simulated run has no nodes to enter" in refused.stderr
    assert found.manifest.lab is not None
    os.kill(found.manifest.lab.pid, signal.SIGKILL)
    ended = finish(process)
    assert ended.returncode == 1
    found = Recording.open(folder)
    assert found.manifest.status is Status.INTERRUPTED
    assert found.transfers["bytes"].item() > 0
    told = run(["report", "out"], tmp_path)
    assert "the figures rest on interrupted runs" in told.stdout
    assert re.search(r"mptcp carried 3\d\.\d Mbit/s", told.stdout), told.stdout


def test_a_run_whose_command_is_killed_is_interrupted(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "long", LONG)
    process = start(["run", scenario, "--engine", "sim", "--live", "--out", "out"], tmp_path)
    folder = tmp_path / "out/mptcp/1"
    wait_for("rows", lambda: (folder / ROWS).exists() and (folder / ROWS).stat().st_size)
    process.kill()
    finish(process)
    wait_for("tables", lambda: (folder / MANIFEST).exists())
    manifest = Recording.open(folder).manifest
    assert (manifest.status, manifest.warnings) == (Status.INTERRUPTED, ())


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "long", LONG)
    process = start(["run", scenario, "--engine", "sim", "--live", "--out", "out"], tmp_path)
    folder = tmp_path / "out/mptcp/1"
    wait_for("rows", lambda: (folder / ROWS).exists() and (folder / ROWS).stat().st_size)
    os.kill(process.pid, signal.SIGINT)
    ended = finish(process)
    assert ended.returncode == 130
    assert not (folder / ROWS).exists()
    assert Recording.open(folder).transfers["bytes"].item() > 0


@pytest.mark.parametrize(("term", "cursor"), [("xterm", True), ("dumb", False)])
def test_a_terminal_shows_a_table_and_a_dumb_one_lines(
    tmp_path: Path, term: str, cursor: bool
) -> None:
    scenario = two_paths(tmp_path, "long", LONG)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "run", scenario, "--engine", "sim", "--live", "--json", "--out", "out"],
        cwd=tmp_path,
        env=environment(tmp_path / "home", TERM=term, LINES="24"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        process_group=0,
    )
    os.close(theirs)
    shown = b""
    while b"Mbit/s" not in shown:
        shown += os.read(ours, 1 << 16)
    process.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(ours, 1 << 16):
            shown += chunk
    except OSError:
        # The other end has gone.
        pass
    assert process.wait() == 130
    text = shown.decode()
    assert "long mptcp 1" in text
    assert ("RTT ms" in text) is cursor
    assert ("\x1b[" in text) is cursor


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("0.0.0.0:8080", "choose an address of the loopback"),
        ("[::]:8080", "choose an address of the loopback"),
        ("localhost:8080", "write an address and a port"),
        ("127.0.0.1", "write an address and a port"),
        ("", "--serve-at '': write an address and a port"),
    ],
)
def test_a_page_beyond_the_loopback_is_refused(tmp_path: Path, where: str, words: str) -> None:
    scenario = two_paths(tmp_path, "short", SHORT)
    command = ["run", str(scenario), "--engine", "sim", "--serve-at", where, "--out", "out"]
    ended = run(command, tmp_path)
    assert ended.returncode == 1
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
