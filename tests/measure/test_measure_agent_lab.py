"""A server, a target and an agent as programs, over emulated links of a lab."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
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
repeat: 2
schedule: {{every: 1 h}}
budget: 3 MB
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

    def agent(self, *options: str) -> subprocess.Popen[str]:
        """The agent, which carries out its plan once; it is enrolled at its first start."""
        program = ("mptcplab-host", "agent", "--state", "agent", "--enrol-file", "enrolment")
        return self.enter("laptop", *program, "--once", *options)

    def told(self) -> dict[str, Any]:
        """The server's account of its only agent."""
        (agent,) = json.loads(self.server("agents", "--json"))["agents"]
        assert isinstance(agent, dict)
        return agent

    def endpoints(self) -> str:
        return finish(self.enter("laptop", "ip", "mptcp", "endpoint")).stdout

    def ip(self, *words: str) -> str:
        ended = finish(self.enter("laptop", "ip", *words))
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def newest(self, count: int) -> list[dict[str, Any]]:
        """The bodies of the results that came last, the oldest first."""
        with closing(sqlite3.connect(self.folder / "srv" / "server.db")) as database:
            rows = database.execute(
                "SELECT zlib FROM contents ORDER BY result DESC LIMIT ?", (count,)
            ).fetchall()
        return [json.loads(zlib.decompress(row[0])) for row in reversed(rows)]


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
    assert told["mptcp"]["used_bytes"] <= 3_000_000
    # Both on which it survives take turns.
    for way in ("down", "up"):
        (size,) = told["benefit"][way]
        assert sorted(size["mptcp_first_paths"]) == ["lte", "wifi"]


def sources_of_mptcp(told: dict[str, Any]) -> set[str]:
    """Addresses of all subflows of transfers by MPTCP."""
    return {
        source
        for step in told["steps"]
        if step["kind"] == "mptcp"
        for source in step["result"]["connections"][0]["sources"]
    }


@needs_namespaces
def test_a_plan_keeps_to_its_interfaces_and_has_each_congestion_control(lab: Lab) -> None:
    token = (lab.folder / "state" / "tokens").read_text().split()[0]
    more = "interfaces: [wifi]\ncongestion_control: [reno, nosuch]\n"
    (lab.folder / "kept.yaml").write_text(PLAN.format(place=PLACE, token=token) + more)
    lab.server("plan", "remove", "lines")
    lab.server("plan", "add", "kept.yaml")
    (lte,) = json.loads(lab.ip("-j", "-4", "address", "show", "lte"))
    (other,) = [one["local"] for one in lte["addr_info"]]
    before = lab.ip("rule")
    lab.ip("mptcp", "endpoint", "add", other, "subflow")
    try:
        ended = finish(lab.agent())
        assert ended.returncode == 0, ended.stderr
        assert f"endpoints that are not used meanwhile: {other}" in ended.stderr
        assert lab.ip("rule") == before
        kept, skipped = lab.newest(2)
        assert (kept["congestion_control"], kept["outcome"]) == ("reno", "complete")
        assert sources_of_mptcp(kept) == {path["source"] for path in kept["paths"]}
        assert (skipped["congestion_control"], skipped["outcome"]) == ("nosuch", "skipped")
        assert "none of this name" in skipped["reason"]
        # Without the privilege, or where it is not to be used, the result tells.
        ended = finish(lab.agent("--leave-endpoints"))
        assert ended.returncode == 0, ended.stderr
        elsewhere, _ = lab.newest(2)
        assert other in sources_of_mptcp(elsewhere)
    finally:
        lab.ip("mptcp", "endpoint", "flush")
        lab.server("plan", "remove", "kept")
        lab.server("plan", "add", "lines.yaml")
    lab.server("export", "elsewhere", "--congestion-control", "reno")
    files = (lab.folder / "elsewhere" / "summaries").iterdir()
    told = {file.stem: json.loads(file.read_text()) for file in files}
    assert told[kept["id"]]["mptcp"]["other_addresses"] == []
    assert told[elsewhere["id"]]["mptcp"]["other_addresses"] == [other]
    for way in ("down", "up"):
        (size,) = told[kept["id"]]["benefit"][way]
        assert (size["mptcp_on_other_paths"], len(size["mptcp_s"]["samples"])) == (0, 2)
        (size,) = told[elsewhere["id"]]["benefit"][way]
        counted = [one for one in size["mptcp_s"]["samples"] if one is not None]
        assert size["mptcp_on_other_paths"] + len(counted) == 2


IN_NAMESPACE = """
mount -t tmpfs none /run && ip netns add lines &&
ip link add near type veth peer name far netns lines &&
ip address add 10.9.0.1/24 dev near && ip link set near up &&
ip -n lines address add 10.9.0.2/24 dev far && ip -n lines address add 10.9.0.3/24 dev far &&
ip -n lines link set far up &&
{enter}mptcplab-host agent --state agent --once; status=$?; ip link delete near; exit $status
"""
WITHOUT_PRIVILEGE = "setpriv --bounding-set=-sys_admin "


@needs_namespaces
def test_paths_may_be_addresses_in_a_namespace(lab: Lab) -> None:
    lab.enter("laptop", "mptcplab-host", "target", "--listen", "0.0.0.0:4422", "--state", "near")
    wait_for("a file", lambda: (lab.folder / "near" / "tokens").exists())
    token = (lab.folder / "near" / "tokens").read_text().split()[0]
    more = "addresses: [10.9.0.2, 10.9.0.3]\nnamespace: lines\n"
    plan = PLAN.format(place="10.9.0.1, port: 4422", token=token)
    (lab.folder / "near.yaml").write_text(plan + more)
    lab.server("plan", "remove", "lines")
    lab.server("plan", "add", "near.yaml")
    try:
        for enter in ("", WITHOUT_PRIVILEGE):
            script = IN_NAMESPACE.format(enter=enter)
            ended = finish(lab.enter("laptop", "unshare", "--mount", "sh", "-c", script))
            assert ended.returncode == 0, ended.stderr
        entered, refused = lab.newest(2)
    finally:
        lab.server("plan", "remove", "near")
        lab.server("plan", "add", "lines.yaml")
    assert (entered["outcome"], entered["reason"]) == ("complete", None)
    places = [(path["interface"], path["source"]) for path in entered["paths"]]
    assert sorted(places) == [("far", "10.9.0.2"), ("far", "10.9.0.3")]
    assert sources_of_mptcp(entered) == {"10.9.0.2", "10.9.0.3"}
    assert (refused["outcome"], refused["reason"]) == (
        "failed",
        "Network namespace lines: only CAP_SYS_ADMIN may enter it, which this agent does not have",
    )


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
