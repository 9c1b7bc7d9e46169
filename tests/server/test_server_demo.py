"""The demonstration: a server, a target and agents over emulated paths, and its end."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.engine.launch import MARK, environment, finish, start, wait_for
from tests.engine.system import marked, needs_mptcp
from tests.server.running import Answer, asked, run, tls

from mptcplab.cli.host_program import find_program

_RUN = "demo"


@pytest.fixture(autouse=True)
def program() -> None:
    found = find_program()
    if found is None or subprocess.run([found, "agent", "--help"], capture_output=True).returncode:
        pytest.skip("mptcplab-host has no agent")


def demo(folder: Path, *words: str) -> subprocess.Popen[str]:
    env = environment(folder / "home", **{MARK: _RUN})
    return start(("server", "--demo", *words), folder, env=env)


def get(url: str, path: str, secret: str | None = None) -> Answer:
    host, port = urlsplit(url).hostname, urlsplit(url).port
    assert host is not None
    connection = http.client.HTTPSConnection(host, port, context=tls(), timeout=60)
    try:
        return asked(connection, "GET", path, secret=secret)
    finally:
        connection.close()


def is_gone(folder: Path) -> bool:
    """Whether no process is left, and no folder."""
    return not marked(f"{MARK}={_RUN}") and not list((folder / "home" / "tmp").iterdir())


@needs_mptcp
def test_agents_measure_and_nothing_is_left_after_ctrl_c(tmp_path: Path) -> None:
    running = demo(tmp_path, "--json")
    try:
        assert running.stdout is not None
        told: dict[str, Any] = json.loads(running.stdout.readline())
        assert set(told) == {"url", "token"}
        assert get(told["url"], "/").status == 200

        def results() -> list[dict[str, Any]]:
            time.sleep(0.1)  # An address may make 50 requests a second.
            found = get(told["url"], "/api/v1/results", told["token"]).json["results"]
            assert isinstance(found, list)
            return found

        wait_for("a result", lambda: bool(results()), limit_s=180)
        assert results()[0]["outcome"] == "complete"
    finally:
        running.send_signal(signal.SIGINT)
        ended = finish(running)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert is_gone(tmp_path)


@needs_mptcp
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_network_is_built_leaves_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    running = demo(tmp_path)
    made: Callable[[], bool] = lambda: bool(list((tmp_path / "home" / "tmp").iterdir()))  # noqa: E731
    wait_for("its folder", made)
    running.send_signal(number)
    ended = finish(running)
    assert (ended.returncode, ended.stderr) == (130, "")
    assert is_gone(tmp_path)


def test_options_that_keep_something_are_refused() -> None:
    assert "--demo takes no other option" in run("--demo", "--state", "x", status=2)
