"""Payload, checksums and data in SYNs, over links whose middleboxes change or drop them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.launch import COMMAND, environment, finish, start, wait_for
from tests.engine.system import needs_namespaces

SCENARIO = """
title: Paths that change payload, or what a SYN carries
hosts:
  laptop: {interfaces: {clean: {}, gateway: {}, cut: {}, wall: {}, strip: {}}}
  server: {interfaces: {lan: {}}}
routers: {internet: {}}
links:
  clean: {between: [laptop.clean, internet.clean], rate: 20 Mbit/s, delay: 2 ms}
  gateway:
    between: [laptop.gateway, internet.gateway]
    rate: 20 Mbit/s
    delay: 2 ms
    middleboxes: [{change-payload: {probability: 100 %}}]
  cut:
    between: [laptop.cut, internet.cut]
    rate: 20 Mbit/s
    delay: 2 ms
    middleboxes: [{drop-syn-data: {}}]
  wall:
    between: [laptop.wall, internet.wall]
    rate: 20 Mbit/s
    delay: 2 ms
    middleboxes: [{drop-syn-data: {segment: true}}]
  strip:
    between: [laptop.strip, internet.strip]
    rate: 20 Mbit/s
    delay: 2 ms
    middleboxes: [{strip-options: {options: [34, 254]}}]
  lan: {between: [internet.lan, server.lan], rate: 1 Gbit/s}
traffic:
  - ping: {from: laptop, to: server, interval: 1 s, count: 600}
"""
TARGET = "10.0.6.2"
CHECKSUM, FAST_OPEN = "net/mptcp/checksum_enabled", "net/ipv4/tcp_fastopen"
PORTS = {"on": 4420, "off": 4520}
SMALL = ("--budget", "3 MB", "--sizes", "10 kB", "--repeat", "1", "--json")


class Lab:
    """A lab that goes on, with targets of both settings on its server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = environment(folder / "home")
        self.env["PATH"] = f"{COMMAND.parent}:{self.env['PATH']}"

    def enter(self, node: str, *words: str) -> subprocess.Popen[str]:
        return start(("enter", "out", node, *words), self.folder, env=self.env)

    def set(self, node: str, setting: str, value: int) -> None:
        write = ("sh", "-c", f"echo {value} > /proc/sys/{setting}")
        ended = finish(self.enter(node, *write))
        assert ended.returncode == 0, ended.stderr

    def serve(self, name: str, checksum: int, fast_open: int) -> None:
        """A target that was started with these settings."""
        self.set("server", CHECKSUM, checksum)
        self.set("server", FAST_OPEN, fast_open)
        place = ("--listen", f"{TARGET}:{PORTS[name]}", "--state", name)
        self.enter("server", "mptcplab", "target", *place)
        wait_for("a file", lambda: (self.folder / name / "tokens").exists())

    def probe(self, name: str) -> tuple[dict[str, Any], str]:
        """The result, and what was told before."""
        place = (f"{TARGET}:{PORTS[name]}", "--token-file", f"{name}/tokens")
        ended = finish(self.enter("laptop", "mptcplab", "probe", *place, *SMALL))
        assert ended.returncode == 0, ended.stderr
        told = json.loads(ended.stdout)
        assert 0 < told["mptcp"]["used_bytes"] <= 3_000_000
        return told, ended.stderr


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "paths.yaml").write_text(SCENARIO)
    words = ("run", "paths.yaml", "--engine", "kernel", "--repeat", "1", "--out", "out")
    running = start(words, folder)
    try:
        wait_for("a file", lambda: (folder / "out" / "mptcp" / "1" / "running.json").exists())
        lab = Lab(folder)
        lab.serve("off", checksum=0, fast_open=1)
        lab.serve("on", checksum=1, fast_open=3)
        yield lab
    finally:
        os.killpg(running.pid, signal.SIGINT)
        finish(running)


@needs_namespaces
def test_each_path_is_told_by_what_it_changes(lab: Lab) -> None:
    told, before = lab.probe("on")
    assert "payload: bytes that both ends compare, and checksums of MPTCP (5)" in before
    assert "fast-open: data in the SYN, of TCP and of MPTCP (at most 15)" in before
    assert "not tested" not in before
    paths = {path["interface"]: path for path in told["paths"]}
    for name, path in paths.items():
        is_changed = name == "gateway"
        assert path["payload"]["unchanged"] is not is_changed, path
        assert path["mptcp"]["checksum"] is not is_changed, path
        assert (path["mptcp"]["wrong_checksums"] > 0) is is_changed, path
    fates = {
        name: (path["syn_data"]["tcp"], path["syn_data"]["mptcp"]) for name, path in paths.items()
    }
    assert fates == {
        "clean": ("acknowledged", "acknowledged"),
        "gateway": ("acknowledged", "acknowledged"),
        "cut": ("dropped", "dropped"),
        "wall": ("lost", "lost"),
        "strip": ("stripped", "stripped"),
    }
    assert paths["clean"]["syn_data"]["mptcp_fell_back"] is False
    verdict = " ".join(told["verdict"])
    assert "gateway changes payload" in verdict
    assert "Checksums of MPTCP fail on gateway" in verdict
    assert "cut takes data out of the SYN of TCP and of MPTCP" in verdict
    assert "wall loses SYNs of TCP and of MPTCP that have data" in verdict
    assert "strip takes out the option of TCP Fast Open (TCP and of MPTCP)" in verdict
    assert "Not tested" not in verdict
    settings = told["mptcp"]["settings"]
    assert settings["target"] == {
        "checksum_enabled": True,
        "tcp_fastopen": 3,
        "mptcp_fast_open": True,
    }
    assert settings["probe"]["checksum_enabled"] is False


@needs_namespaces
def test_settings_that_do_not_allow_a_test_are_named(lab: Lab) -> None:
    # The target has told its settings as they were when it was started.
    lab.set("server", CHECKSUM, 0)
    told, before = lab.probe("off")
    reasons = (
        "data in the SYN: the target's net.ipv4.tcp_fastopen has no bit 2",
        "checksums of MPTCP: net.mptcp.checksum_enabled is 0 at both ends",
    )
    for reason in reasons:
        assert f"not tested: {reason}" in before
        assert f"Not tested: {reason}." in told["verdict"]
    for path in told["paths"]:
        # Told without checksums, too.
        assert path["payload"]["unchanged"] is (path["interface"] != "gateway")
        assert path["mptcp"]["checksum"] is None
        assert (path["syn_data"]["tcp"], path["syn_data"]["mptcp"]) == (None, None)
    lab.set("laptop", FAST_OPEN, 0)
    lab.set("laptop", CHECKSUM, 1)
    try:
        told, before = lab.probe("on")
    finally:
        lab.set("laptop", FAST_OPEN, 1)
        lab.set("laptop", CHECKSUM, 0)
    assert (
        "Not tested: data in the SYN: this machine's net.ipv4.tcp_fastopen has no bit 1."
        in told["verdict"]
    )
    # Either end alone may ask for checksums.
    assert told["paths"][0]["mptcp"]["checksum"] is True
