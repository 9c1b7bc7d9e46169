"""A probe and a target as programs, over emulated links of a lab."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.launch import COMMAND, environment, finish, start, wait_for
from tests.engine.system import needs_namespaces

SCENARIO = """
title: Two paths, one of which takes MPTCP out
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
TARGET = "10.0.4.2"
PROBE = ("mptcplab", "probe", TARGET, "--token-file", "state/tokens")


class Lab:
    """A lab that goes on, with a target on its server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = environment(folder / "home")
        self.env["PATH"] = f"{COMMAND.parent}:{self.env['PATH']}"

    def enter(self, node: str, *words: str) -> subprocess.Popen[str]:
        return start(("enter", "out", node, *words), self.folder, env=self.env)

    def done(self, node: str, *words: str) -> subprocess.CompletedProcess[str]:
        return finish(self.enter(node, *words))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "paths.yaml").write_text(SCENARIO)
    words = ("run", "paths.yaml", "--engine", "kernel", "--repeat", "1", "--out", "out")
    running = start(words, folder)
    try:
        wait_for("a file", lambda: (folder / "out" / "mptcp" / "1" / "running.json").exists())
        lab = Lab(folder)
        # Started as one without endpoints would be.
        assert lab.done("laptop", "ip", "mptcp", "endpoint", "flush").returncode == 0
        target = lab.enter("server", "mptcplab", "target", "--state", "state")
        wait_for("a file", lambda: (folder / "state" / "tokens").exists())
        yield lab
    finally:
        os.killpg(running.pid, signal.SIGINT)
        finish(running)
    # It ended with the lab.
    finish(target)


@needs_namespaces
def test_a_probe_tells_the_path_that_takes_mptcp_out(lab: Lab) -> None:
    before = lab.done("laptop", "ip", "mptcp", "limits").stdout
    budget = ("--budget", "4 MB", "--sizes", "30 kB,300 kB", "--repeat", "1", "--json")
    ended = lab.done("laptop", *PROBE, *budget)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert list(told) == ["paths", "mptcp", "benefit", "verdict"]
    paths = {path["interface"]: path["mptcp"] for path in told["paths"]}
    through: dict[str, object] = {
        "capable": True,
        "join": True,
        "join_unknown": None,
        "stripped": [],
        "checksum": None,
        "checksum_unknown": "net.mptcp.checksum_enabled is 0 at both ends",
        "wrong_checksums": 0,
    }
    assert paths["wifi"] == paths["lte"] == through
    assert paths["office"]["capable"] is False
    assert "mp-capable" in paths["office"]["stripped"]
    assert 0 < told["mptcp"]["used_bytes"] <= 4_000_000
    for direction in ("down", "up"):
        assert [size["bytes"] for size in told["benefit"][direction]] == [30_000, 300_000]
    for path in told["paths"]:
        # No more than the emulated links let through.
        rate = 10 if path["interface"] == "lte" else 20
        assert 0 < path["down_mbps"]["mean"] < rate
        assert 0 < path["up_mbps"]["mean"] < rate
        assert path["rtt_ms"]["mean"] >= (8 if path["interface"] == "lte" else 4)
    for size in (*told["benefit"]["down"], *told["benefit"]["up"]):
        assert size["mptcp_protocols"] == ["mptcp"]
        assert size["mptcp_unfinished"] == 0
        assert 1 <= size["mptcp_subflows"][0] <= 3
    assert any("MPTCP does not survive on office" in sentence for sentence in told["verdict"])
    # The endpoints and the limits are as they were.
    assert "endpoints for as long as it lasts" in ended.stderr
    assert lab.done("laptop", "ip", "mptcp", "endpoint").stdout == ""
    assert lab.done("laptop", "ip", "mptcp", "limits").stdout == before


@needs_namespaces
def test_a_probe_uses_no_endpoint_of_another_address(lab: Lab) -> None:
    other = "10.77.0.1"
    before = lab.done("laptop", "ip", "rule").stdout
    lab.done("laptop", "ip", "address", "add", f"{other}/32", "dev", "wifi")
    lab.done("laptop", "ip", "mptcp", "endpoint", "add", other, "subflow")
    try:
        options = ("--budget", "4 MB", "--sizes", "30 kB", "--repeat", "2", "--json")
        ended = lab.done("laptop", *PROBE, *options)
        assert ended.returncode == 0, ended.stderr
        assert f"endpoints that are not used meanwhile: {other}" in ended.stderr
        assert lab.done("laptop", "ip", "rule").stdout == before
        told = json.loads(ended.stdout)
        assert told["mptcp"]["other_addresses"] == []
        for direction in ("down", "up"):
            (size,) = told["benefit"][direction]
            assert sorted(size["mptcp_first_paths"]) == ["lte", "wifi"]
            assert size["mptcp_on_other_paths"] == 0
    finally:
        lab.done("laptop", "ip", "mptcp", "endpoint", "flush")
        lab.done("laptop", "ip", "address", "del", f"{other}/32", "dev", "wifi")


@needs_namespaces
def test_ctrl_c_keeps_what_was_measured(lab: Lab) -> None:
    long = ("--sizes", "30 kB,100 MB", "--budget", "9 GB", "--repeat", "1", "--json")
    # Ctrl-C ends nsenter at once; a shell tells the status of the probe.
    shell = ("sh", "-c", 'trap : INT; "$@"; echo "status $?" >&2', "sh")
    probe = lab.enter("laptop", *shell, *PROBE, *long)
    assert probe.stderr is not None
    for line in probe.stderr:
        if "10 % done" in line:
            break
    os.killpg(probe.pid, signal.SIGINT)
    ended = finish(probe)
    assert ended.stderr.endswith("status 130\n")
    told = json.loads(ended.stdout)
    assert told["partial"] is True
    assert "It was stopped. So it ended early" in told["verdict"][-1]
    assert told["paths"][0]["mptcp"]["capable"] is True
    assert lab.done("laptop", "ip", "mptcp", "endpoint").stdout == ""


@needs_namespaces
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--budget", "10 kB"), "--budget 10 kB: 3 repetitions of the smallest transfers"),
        (("--sizes", "1 GB"), "--budget 50 MB: 3 repetitions of these sizes"),
        (("--token", "x"), "--token and --token-file: give one of them"),
    ],
)
def test_what_the_budget_does_not_allow_is_refused(
    lab: Lab, words: tuple[str, ...], expected: str
) -> None:
    ended = lab.done("laptop", *PROBE, *words)
    assert ended.returncode == 1
    assert expected in ended.stderr


@needs_namespaces
def test_without_mptcp_little_is_spent_and_the_reason_told(lab: Lab) -> None:
    setting = "/proc/sys/net/mptcp/enabled"
    off = 'echo 0 > "$0"; "$@"; status=$?; echo 1 > "$0"; exit $status'
    ended = lab.done("laptop", "sh", "-c", off, setting, *PROBE, "--leave-endpoints", "--json")
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["partial"] is True
    assert "No connection by MPTCP came to be: this kernel has no MPTCP" in told["verdict"][-1]
    assert told["mptcp"]["used_bytes"] < 50_000
