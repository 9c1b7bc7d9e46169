"""A run on the kernel that is paused stands still, lets single packets pass, and has no gap."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest
from tests.engine.launch import finish, run, start
from tests.engine.system import needs_mptcp, needs_namespaces
from tests.engine.worlds import MPTCP, TCP, two_paths

from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.command_socket import send_command
from mptcplab.recording import Recording, Status

BYTES = 2_000_000
UPLOAD = """\
traffic: [{bulk: {from: client, to: server, way: up, size: 2 MB, rate: 8 Mbit/s}}]
"""
"""Without losses: after a pause TCP repeats those when its timeout is over, which is long then."""
PAUSE_S = 4.0
"""Longer than the run by its own clock."""


def paused(process: subprocess.Popen[str]) -> str:
    """The lines that a run prints when it has paused by itself."""
    assert process.stderr is not None
    lines: list[str] = []
    while not lines or not lines[-1].startswith("The kernel's TCP timers run on"):
        line = process.stderr.readline()
        assert line, lines
        lines.append(line)
    return "".join(lines)


def told(folder: Path, *words: str) -> Any:
    """The JSON that a command tells of the run in `out`."""
    ended = run([words[0], "out", *words[1:], "--json"], folder)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def received(folder: Path, node: str) -> int:
    """Packets that the kernel of a node has received from the links."""
    ended = run(["enter", "out", node, "ip", "-j", "-s", "link"], folder)
    assert ended.returncode == 0, ended.stderr
    links = json.loads(ended.stdout)
    return sum(one["stats64"]["rx"]["packets"] for one in links if one["ifname"] != "lo")


def delivered(queues: Any) -> int:
    """Packets that have come out of all links."""
    return sum(link["delivered_packets"] for link in queues["links"])


def held(queues: Any) -> Iterator[str]:
    """The packets in all links."""
    return (packet["packet"] for link in queues["links"] for packet in link["packets"])


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Works in a folder: an address of a socket has 108 bytes at most."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@needs_mptcp
def test_a_paused_run_stands_still_and_its_recording_has_no_gap(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "paused", UPLOAD + MPTCP)
    process = start(["run", scenario, "--pause-at", "300 ms", "--out", "out"], tmp_path)
    began = time.monotonic()
    said = paused(process)
    assert "mptcplab resume out/mptcp/1" in said
    hosts = ("client", "server")
    before, counters = told(tmp_path, "queues"), [received(tmp_path, host) for host in hosts]
    assert before["t_ns"] >= 300_000_000
    assert any(" DSS " in packet for packet in held(before)), "packets are decoded"
    sockets = run(["sockets", "out", "client"], tmp_path)
    assert "ESTAB" in sockets.stdout, sockets.stderr
    time.sleep(PAUSE_S)
    after = told(tmp_path, "queues")
    assert after["t_ns"] == before["t_ns"]
    assert delivered(after) == delivered(before)
    assert [received(tmp_path, host) for host in hosts] == counters

    stepped = [told(tmp_path, "step-packet")["packets"] for _ in range(3)]
    assert [len(one) for one in stepped] == [1, 1, 1]
    assert stepped[0][0]["packet"] in set(held(after))
    stepped += [told(tmp_path, "step-packet", "4")["packets"]]
    times = [packet["t_ns"] for one in stepped for packet in one]
    assert len(times) == 7
    assert times == sorted(times)
    assert times[0] >= after["t_ns"]
    last = told(tmp_path, "queues")
    assert last["t_ns"] == times[-1]
    assert delivered(last) == delivered(before) + 7
    assert sum(received(tmp_path, host) for host in hosts) == sum(counters) + 7

    resumed = run(["resume", "out"], tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    stood_s = time.monotonic() - began
    ended = finish(process)
    assert ended.returncode == 0, ended.stderr
    recording = Recording.open(tmp_path / "out/mptcp/1")
    transfer = recording.scan("transfers").collect().row(0, named=True)
    assert (transfer["bytes"], transfer["error"]) == (BYTES, None)
    assert recording.manifest.duration_s is not None
    assert recording.manifest.duration_s < PAUSE_S < stood_s
    events = recording.scan("events").collect().filter(pl.col("kind") == "pause")
    assert events["t_ns"].to_list() == [before["t_ns"], last["t_ns"]]
    assert any("timers" in warning for warning in recording.manifest.warnings)
    assert not (tmp_path / "out/mptcp/1/control").exists()


@needs_namespaces
def test_programs_stand_still_and_those_of_the_user_go_on(tmp_path: Path) -> None:
    count = "for n in $(seq 60); do echo $n; sleep 0.05; done"
    traffic = f"""\
traffic:
  - command: {{on: client, run: [sh, -c, "{count}"]}}
"""
    scenario = two_paths(tmp_path, "counting", traffic + TCP)
    process = start(["run", scenario, "--pause-at", "500 ms", "--out", "out"], tmp_path)
    paused(process)
    states = ["sh", "-c", "for one in /proc/[0-9]*/stat; do cut -d' ' -f2-3 $one; done"]
    seen = [run(["enter", "out", "client", *states], tmp_path).stdout for _ in range(2)]
    for one in seen:
        assert "(sh) T" in one, "the program of the run"
        assert re.search(r"\(sh\) [RS]", one), "the one that looks"
    time.sleep(1.0)
    assert run(["resume", "out"], tmp_path).returncode == 0
    ended = finish(process)
    assert ended.returncode == 0, ended.stderr
    outputs = Recording.open(tmp_path / "out/tcp/1").scan("outputs").collect()
    lines = outputs.filter(pl.col("stream") == "stdout").sort("t_ns")
    assert lines["text"].to_list() == [str(number) for number in range(1, 61)]


@needs_mptcp
def test_ctrl_c_ends_a_paused_run_and_keeps_what_was_measured(tmp_path: Path) -> None:
    traffic = "traffic: [{bulk: {from: client, to: server, way: up, duration: 60 s}}]\n"
    events = "events: [{at: 400 ms, carrier: b, up: false}]\n"
    scenario = two_paths(tmp_path, "stopped", traffic + events + MPTCP)
    process = start(["run", scenario, "--pause-at", "b unplugged", "--out", "out"], tmp_path)
    paused(process)
    at_ns = told(tmp_path, "queues")["t_ns"]
    assert at_ns >= 400_000_000
    os.killpg(process.pid, signal.SIGINT)
    ended = finish(process)
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    recording = Recording.open(tmp_path / "out/mptcp/1")
    assert recording.manifest.status is Status.INTERRUPTED
    assert recording.scan("transfers").collect()["bytes"].item() > 0
    labels = recording.scan("events").collect()["label"].to_list()
    assert "b unplugged" in labels, "what comes at the moment of the pause has happened"


@needs_mptcp
def test_no_line_at_the_socket_does_any_harm(tmp_path: Path) -> None:
    scenario = two_paths(tmp_path, "control", UPLOAD + MPTCP)
    process = start(["run", scenario, "--pause-at", "300 ms", "--out", "out"], tmp_path)
    paused(process)
    folder = tmp_path / "out/mptcp/1"
    mode = (folder / "control").stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600
    hostile = [
        b"",
        b"\n",
        b"stop\n",
        b"pause\nstop\n",
        b"1 pause\n",
        b"step 0\n",
        b"step 9999999\n",
        b"\xff" * 100_000,
        b"pause" + b" " * 100_000,
        b"step 1\rstop\n",
    ]
    at = told(tmp_path, "queues")
    with working_in(folder):
        for line in hostile:
            with socket.socket(socket.AF_UNIX) as stream, suppress(OSError):
                stream.connect("control")
                stream.sendall(line)
                stream.shutdown(socket.SHUT_WR)
                stream.recv(1 << 16)
    assert delivered(told(tmp_path, "queues")) == delivered(at)
    for words, why in (
        (["resume", "out/none"], "no"),
        (["sockets", "out", "nobody"], "no node 'nobody'"),
    ):
        ended = run(words, tmp_path)
        assert ended.returncode == 1
        assert why in ended.stderr
        assert "Traceback" not in ended.stderr
    assert run(["resume", "out"], tmp_path).returncode == 0
    assert run(["resume", "out"], tmp_path).returncode == 1, "it goes on, or has ended"
    ended = finish(process)
    assert ended.returncode == 0, ended.stderr
    transfer = Recording.open(folder).scan("transfers").collect().row(0, named=True)
    assert (transfer["bytes"], transfer["error"]) == (BYTES, None)
    gone = run(["pause", "out"], tmp_path)
    assert gone.returncode == 1
    assert "nothing runs there" in gone.stderr


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{\n",
        b'{"t_ns": "x"}\n',
        b"[" * 100_000,
        b"\xff\n",
        b'{"error": {}}\n',
    ],
)
def test_what_is_no_answer_of_a_run_is_told_as_that(tmp_path: Path, answer: bytes) -> None:
    def serve() -> None:
        with listening.accept()[0] as asking, suppress(OSError):
            asking.recv(64)
            asking.sendall(answer)

    long = tmp_path / ("folder" * 20)
    long.mkdir()
    with socket.socket(socket.AF_UNIX) as listening, working_in(long):
        listening.bind("control")
        listening.listen()
        serving = Thread(target=serve)
        serving.start()
        with pytest.raises(EngineError):
            send_command(long, "pause")
        serving.join()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--engine", "sim", "--pause-at", "1 s"], "mptcplab debug"),
        (["--engine", "kernel", "--pause-at", "soon"], "--pause-at: 'soon' is no event"),
    ],
)
@needs_mptcp
def test_what_cannot_pause_is_refused(tmp_path: Path, words: list[str], why: str) -> None:
    scenario = two_paths(tmp_path, "refused", UPLOAD + MPTCP)
    ended = run(["run", scenario, "--out", "out", *words], tmp_path)
    assert ended.returncode == 1
    assert why in ended.stderr
    assert "Traceback" not in ended.stderr
