"""A server, a target and an agent as programs, over emulated links of a lab."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.launch import COMMAND, environment, finish, start, wait_for
from tests.engine.system import needs_namespaces

pytest.importorskip("mptcplab.server", reason="there is no server in this installation")

SCENARIO = """
title: Three paths, one of which takes MPTCP out
hosts:
  laptop: {interfaces: {wifi: {}, office: {}, lte: {}}}
  server: {interfaces: {lan: {}}}
routers: {internet: {}}
links:
  wifi: {between: [laptop.wifi, internet.wifi], rate: 20 Mbit/s, delay: 2 ms}
  office:
    between: [laptop.office, internet.office]
    rate: 20 Mbit/s
    delay: 2 ms
    middleboxes: [{strip-options: {options: [mptcp]}}]
  lte: {between: [laptop.lte, internet.lte], rate: 10 Mbit/s, delay: 4 ms}
  lan: {between: [internet.lan, server.lan], rate: 1 Gbit/s}
traffic:
  - ping: {from: laptop, to: server, interval: 1 s, count: 600}
"""
PLACE = "10.0.4.2"
PLAN = """
target: {{host: {place}, token: {token}}}
sizes: [100 kB]
repeat: 1
schedule: {{every: 1 h}}
budget: 2 MB
daily: 200 MB
"""
KILLS = 3


class Lab:
    """A lab that goes on, with a server and a target on one of its hosts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = environment(folder / "home")
        self.env["PATH"] = f"{COMMAND.parent}:{self.env['PATH']}"

    def enter(self, node: str, *words: str) -> subprocess.Popen[str]:
        return start(("enter", "out", node, *words), self.folder, env=self.env)

    def server(self, *words: str) -> str:
        """Runs a command on the server's folder, and gives its output."""
        ended = finish(start(("server", *words, "--state", "srv"), self.folder, env=self.env))
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def agent(self) -> subprocess.Popen[str]:
        """The agent, which carries out its plan once; it is enrolled at its first start."""
        program = ("mptcplab-host", "agent", "--state", "agent", "--enrol-file", "enrolment")
        return self.enter("laptop", *program, "--once")

    def told(self) -> dict[str, Any]:
        """The server's account of its only agent."""
        (agent,) = json.loads(self.server("agents", "--json"))["agents"]
        assert isinstance(agent, dict)
        return agent

    def endpoints(self) -> str:
        return finish(self.enter("laptop", "ip", "mptcp", "endpoint")).stdout


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "paths.yaml").write_text(SCENARIO)
    words = ("run", "paths.yaml", "--engine", "kernel", "--repeat", "1", "--out", "out")
    running = start(words, folder)
    try:
        wait_for("a file", lambda: (folder / "out" / "mptcp" / "1" / "running.json").exists())
        lab = Lab(folder)
        ended = finish(lab.enter("laptop", "ip", "mptcp", "endpoint", "flush"))
        assert ended.returncode == 0, ended.stderr
        lab.enter("server", "mptcplab", "target", "--state", "state")
        listen = ("--state", "srv", "--listen", f"{PLACE}:4430", "--json")
        server = lab.enter("server", "mptcplab", "server", *listen)
        wait_for("a file", lambda: (folder / "state" / "tokens").exists())
        # It is ready.
        assert server.stdout is not None
        assert json.loads(server.stdout.readline())["port"] == 4430
        (folder / "enrolment").write_text(lab.server("enrol"))
        token = (folder / "state" / "tokens").read_text().split()[0]
        (folder / "lines.yaml").write_text(PLAN.format(place=PLACE, token=token))
        lab.server("plan", "add", "lines.yaml")
        yield lab
    finally:
        os.killpg(running.pid, signal.SIGINT)
        finish(running)


@needs_namespaces
def test_an_agents_result_is_what_a_probe_would_tell(lab: Lab) -> None:
    ended = finish(lab.agent())
    assert ended.returncode == 0, ended.stderr
    assert (lab.told()["results"], lab.told()["last_outcome"]) == (1, "complete")
    assert lab.endpoints() == ""
    lab.server("export", "exported")
    (file,) = (lab.folder / "exported" / "summaries").iterdir()
    told = json.loads(file.read_text())
    mptcp = {path["interface"]: path["mptcp"] for path in told["paths"]}
    assert mptcp["office"]["capable"] is False
    assert mptcp["office"]["stripped"] == ["mp-capable", "mp-join"]
    assert mptcp["wifi"]["join"] is mptcp["lte"]["join"] is True
    assert told["mptcp"]["used_bytes"] <= 2_000_000


@needs_namespaces
def test_an_agent_that_is_killed_loses_no_result_and_leaves_no_endpoint(lab: Lab) -> None:
    chance = random.Random(18)
    for _ in range(KILLS):
        agent = lab.agent()
        time.sleep(chance.uniform(0.3, 4))
        os.killpg(agent.pid, signal.SIGKILL)
        finish(agent)
        wait_for("the end of endpoints", lambda: lab.endpoints() == "")
    ended = finish(lab.agent())
    assert ended.returncode == 0, ended.stderr
    told = lab.told()
    assert told["missing"] == 0
    assert told["results"] == told["next_sequence"] >= 2
    assert list((lab.folder / "agent" / "spool").iterdir()) == []
