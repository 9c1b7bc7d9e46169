"""A probe and a target as programs on this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.engine.launch import finish, start, wait_for

Serve = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a target; it and the place where it listens."""
    started = []

    def one(*words: str) -> tuple[subprocess.Popen[str], str]:
        ports = []
        for _ in range(2):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                ports.append(str(free.getsockname()[1]))
        place = f"127.0.0.1:{ports[0]}"
        words = ("--listen", place, "--data-port", ports[1], "--state", "state", *words)
        target = start(("target", *words), tmp_path)
        started.append(target)
        wait_for("a file", lambda: (tmp_path / "state" / "tokens").exists())
        assert target.stdout is not None
        target.stdout.readline()
        return target, place

    yield one
    for target in started:
        if target.poll() is None:
            os.killpg(target.pid, signal.SIGINT)
        finish(target)


def test_a_lost_target_ends_the_probe_with_what_was_measured(serve: Serve, tmp_path: Path) -> None:
    target, place = serve()
    words = ("probe", place, "--token-file", "state/tokens", "--repeat", "20", "--json")
    probe = start((*words, "--sizes", "1 MB", "--budget", "1 GB"), tmp_path)
    assert probe.stderr is not None
    for line in probe.stderr:
        if "10 % done" in line:
            break
    os.killpg(target.pid, signal.SIGKILL)
    ended = finish(probe)
    assert ended.returncode == 1
    told = json.loads(ended.stdout)
    assert told["partial"] is True
    assert told["paths"][0]["rtt_ms"]["mean"] > 0
    assert "So it ended early" in told["verdict"][-1]
    assert "what was measured until then is shown" in ended.stderr


def test_the_limit_that_binds_is_named(serve: Serve, tmp_path: Path) -> None:
    _, place = serve("--volume-limit", "20 kB")
    ended = finish(start(("probe", place, "--token-file", "state/tokens"), tmp_path))
    assert ended.returncode == 1
    assert "that the target leaves for this token today: 3 repetitions" in ended.stderr


def test_a_page_that_cannot_be_written_is_refused_before_the_start(tmp_path: Path) -> None:
    words = ("probe", "127.0.0.1:1", "--token", "x", "--html", "no/such.html")
    ended = finish(start(words, tmp_path))
    assert ended.returncode == 1
    assert "--html no/such.html: there is no folder" in ended.stderr
