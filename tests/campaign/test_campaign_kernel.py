"""A sweep on the kernel engine: interrupted, killed and taken up again."""

import signal
import uuid
from pathlib import Path

from tests.campaign.tables import done
from tests.engine.launch import MARK, environment, finish, run, start, wait_for
from tests.engine.system import marked, needs_mptcp, network_state

from mptcplab.campaign.result import Sweep

SCENARIO = """\
name: two
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 5 ms}
traffic: [{bulk: {from: client, to: server, duration: 500 ms}}]
variants:
  tcp: {protocol: tcp, via: a}
  mptcp: {}
repetitions: 1
sweep: {axes: {links.a.delay: [1 ms, 20 ms], links.b.rate: [2 Mbit/s, 8 Mbit/s]}}
"""
RUNS = 8
SWEEP = ["sweep", "two.yaml", "--engine", "kernel", "--out", "out"]


@needs_mptcp
def test_a_sweep_on_the_kernel_goes_on_after_ctrl_c_and_after_a_kill(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(SCENARIO)
    out, mark, before = tmp_path / "out", uuid.uuid4().hex, network_state()
    env = environment(tmp_path / "home", **{MARK: mark})
    interrupted = start(SWEEP, tmp_path, env=env)
    wait_for("runs", lambda: done(out, RUNS) >= 1)
    interrupted.send_signal(signal.SIGINT)
    ended = finish(interrupted)
    assert ended.returncode == 130, ended.stderr
    kept = done(out, RUNS)
    assert f"out: {RUNS} runs: 0 found, {kept} done" in ended.stderr
    killed = start(SWEEP, tmp_path, env=env)
    wait_for("more runs", lambda: done(out, RUNS) > kept)
    killed.kill()
    killed.communicate()
    kept = done(out, RUNS)
    last = run(SWEEP, tmp_path, env=env)
    assert last.returncode == 0, last.stderr
    assert f"out: {RUNS} runs: {kept} found, {RUNS - kept} done" in last.stderr
    frame = Sweep.open(out).frame("goodput")
    assert frame.height == RUNS
    assert frame["goodput"].min() > 0  # type: ignore[operator]
    assert not (out / "under-way").exists()
    wait_for("the end of all processes", lambda: not marked(f"{MARK}={mark}"))
    assert network_state() == before
