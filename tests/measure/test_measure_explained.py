"""A real probe that explains what it has measured."""

import json
import os
import signal
from pathlib import Path as File

from tests.engine.launch import COMMAND, environment, finish, start, wait_for
from tests.engine.system import needs_namespaces

LAB = """
title: A fast and a slow path
hosts:
  laptop: {interfaces: {wifi: {}, lte: {}}}
  server: {interfaces: {lan: {}}}
routers: {internet: {}}
links:
  wifi: {between: [laptop.wifi, internet.wifi], rate: 20 Mbit/s, delay: 5 ms}
  lte: {between: [laptop.lte, internet.lte], rate: 2 Mbit/s, delay: 60 ms}
  lan: {between: [internet.lan, server.lan], rate: 1 Gbit/s, queue: 500 packets}
traffic:
  - ping: {from: laptop, to: server, interval: 1 s, count: 600}
"""


@needs_namespaces
def test_a_probe_explains_itself(tmp_path: File) -> None:
    (tmp_path / "paths.yaml").write_text(LAB)
    env = environment(tmp_path / "home")
    env["PATH"] = f"{COMMAND.parent}:{env['PATH']}"
    running = start(("run", "paths.yaml", "--engine", "kernel", "--repeat", "1", "--out", "out"),
                    tmp_path)  # fmt: skip
    try:
        wait_for("a file", lambda: (tmp_path / "out" / "mptcp" / "1" / "running.json").exists())
        enter = ("enter", "out")
        target = start((*enter, "server", "mptcplab", "target", "--state", "state"), tmp_path,
                       env=env)  # fmt: skip
        wait_for("a file", lambda: (tmp_path / "state" / "tokens").exists())
        words = ("mptcplab", "probe", "10.0.3.2", "--token-file", "state/tokens", "--explain",
                 "--sizes", "1 MB", "--repeat", "2", "--html", "page.html", "--json")  # fmt: skip
        ended = finish(start((*enter, "laptop", *words), tmp_path, env=env))
    finally:
        os.killpg(running.pid, signal.SIGINT)
        finish(running)
    finish(target)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)["explanation"]
    rates = {one["interface"]: one["rate_mbps"] for one in told["links"]}
    # On a busy machine TCP may have less.
    assert 10 < rates["wifi"] < 21
    assert 1 < rates["lte"] < 2.1
    assert told["beside"][0]["figure"] == "mptcp_mbps"
    assert ">Why</h2>" in (tmp_path / "page.html").read_text()
