"""Bridges of Open vSwitch as switches, over links of the emulator."""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import MARK, environment, finish, start, wait_for
from tests.engine.system import marked, mptcp_missing, namespaces_refused, warnings_of_the_run
from tests.engine.user import folder_for_user, give, ordinary_user

from mptcplab.engine import run
from mptcplab.engine.choice import EngineName, choose
from mptcplab.engine.kernel.machine import open_vswitch_missing
from mptcplab.recording import Recording
from mptcplab.scenario import ScenarioError, loads

_ABSENT = open_vswitch_missing()
_REASON = namespaces_refused() or mptcp_missing() or (_ABSENT and f"there is no {_ABSENT}")
needs_bridges = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))

HERE = Path(__file__).parent
FLOODER = f"{{command: {sys.executable} {HERE / 'flooder.py'}}}"
LEARNING = f"{{command: {sys.executable} {HERE / 'os_ken_launcher.py'} learning_switch}}"
PING = "ping: {from: client, to: server, interval: 50 ms, count: 20}"
BULK = "bulk: {from: client, to: server, direction: DIRECTION, size: 1 MB}"
LONG = "ping: {from: client, to: server, interval: 100 ms, count: 600}"


def text(
    controller: str = "disjoint",
    traffic: str = PING,
    *,
    kinds: tuple[str, str] = ("openvswitch", "openvswitch"),
    two: bool = True,
    events: str = "",
) -> str:
    """Two switches, which two links join, or one."""
    second = "two: {between: [s1.two, s2.two], rate: 10 Mbit/s, delay: 5 ms}" if two else ""
    return f"""\
hosts:
  client:
    interfaces: {{a: {{}}, b: {{}}}}
    mptcp: {{path_manager: subflow-signal}}
  server: {{interfaces: {{eth: {{}}}}, mptcp: {{path_manager: default}}}}
switches: {{s1: {{kind: {kinds[0]}}}, s2: {{kind: {kinds[1]}}}}}
controller: {controller}
links:
  in-a: {{between: [client.a, s1.a], rate: 100 Mbit/s}}
  in-b: {{between: [client.b, s1.b], rate: 100 Mbit/s}}
  one: {{between: [s1.one, s2.one], rate: 10 Mbit/s, delay: 5 ms}}
  {second}
  out: {{between: [s2.out, server.eth], rate: 100 Mbit/s}}
traffic: [{{{traffic}}}]
events: [{events}]
variants: {{tcp: {{protocol: tcp, via: a}}, mptcp: {{protocol: mptcp}}}}
repetitions: 1
"""


def recorded(folder: Path, variant: str, scenario: str) -> Recording:
    made = loads(scenario, "bridges.yaml", folder)
    return run(made, variant, folder / "out", engine="kernel")


def decisions(recording: Recording) -> list[str]:
    """The controller's decisions about subflows, in order."""
    events = recording.frame("events").filter(kind="controller").sort("t_ns")
    return events["label"].to_list()


@needs_bridges
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize(
    "kinds",
    [("openvswitch", "openvswitch"), ("openvswitch", "mptcplab"), ("mptcplab", "openvswitch")],
)
def test_subflows_take_paths_of_their_own(
    tmp_path: Path, direction: str, kinds: tuple[str, str]
) -> None:
    bulk = BULK.replace("DIRECTION", direction)
    recording = recorded(tmp_path, "mptcp", text("disjoint", bulk, kinds=kinds))
    assert set(recording.frame("transfers")["error"]) == {None}
    assert sorted(decisions(recording)) == ["over one", "over two"]
    sends = ["s1.one", "s1.two"] if direction == "up" else ["s2.one", "s2.two"]
    samples = recording.frame("link_samples").filter(pl.col("from").is_in(sends))
    carried = samples.group_by("link").agg(pl.col("offered_bytes").max())["offered_bytes"]
    assert min(carried) > 200_000, carried
    assert warnings_of_the_run(recording) == []


@needs_bridges
def test_the_links_between_bridges_are_the_emulator_s(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "tcp", text("shortest", BULK.replace("DIRECTION", "down")))
    (row,) = recording.frame("transfers").to_dicts()
    seconds = (row["end_ns"] - row["connected_ns"]) / 1e9
    # 1 MB with its headers takes 0.83 s at 10 Mbit/s.
    assert 0.82 < seconds < 1.5
    assert row["connected_ns"] - row["start_ns"] > 10e6


@needs_bridges
def test_a_subflow_moves_when_its_path_fails(tmp_path: Path) -> None:
    pulled = "{at: 200 ms, carrier: one, up: false}"
    bulk = BULK.replace("DIRECTION", "down")
    recording = recorded(tmp_path, "mptcp", text("disjoint", bulk, events=pulled))
    assert set(recording.frame("transfers")["error"]) == {None}
    assert "moved, over two" in decisions(recording)


@needs_bridges
@pytest.mark.parametrize("controller", ["flooder", "os-ken"])
def test_a_program_controls_bridges(tmp_path: Path, controller: str) -> None:
    if controller == "os-ken" and find_spec("os_ken") is None:
        pytest.skip("there is no os-ken")
    command = LEARNING if controller == "os-ken" else FLOODER
    recording = recorded(tmp_path, "tcp", text(command, two=False))
    delays_ns = recording.frame("latencies")["rtt_ns"].drop_nulls()
    assert len(delays_ns) == 20
    assert delays_ns.min() >= 10e6  # type: ignore[operator]


@needs_bridges
def test_a_controller_at_an_address_reaches_bridges(tmp_path: Path) -> None:
    port = 26654
    words = [sys.executable, str(HERE / "flooder.py"), str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        address = f"{{address: 'tcp:127.0.0.1:{port}'}}"
        recording = recorded(tmp_path, "tcp", text(address, two=False))
        process.terminate()
    assert recording.frame("latencies")["rtt_ns"].null_count() == 0


@needs_bridges
def test_a_daemon_that_ends_is_told(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    begun = tmp_path / "begun"
    file.write_text(text("shortest", f"{LONG}}}, {{command: {{on: client, run: touch {begun}}}"))
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    words: list[str | Path] = ["run", file, "--engine", "kernel", "--variant", "tcp"]
    process = start([*words, "--out", "out"], tmp_path, env=env)
    wait_for("the traffic", begun.exists)
    (daemon,) = _running("ovs-vswitchd", mark)
    os.kill(daemon, signal.SIGKILL)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    finish(process)
    recording = Recording.open(tmp_path / "out/tcp/1")
    (told,) = [one for one in recording.manifest.warnings if "ovs-vswitchd" in one]
    assert told.startswith("ovs-vswitchd ended during the run (signal: 9 (SIGKILL))")
    assert "disconnected" in decisions(recording)


@needs_bridges
def test_bridges_need_no_root() -> None:
    tried = [*ordinary_user(), "unshare", "--user", "--map-root-user", "--net", "true"]
    if subprocess.run(tried, capture_output=True).returncode != 0:
        pytest.skip("an ordinary user has no namespaces here")
    with folder_for_user() as folder:
        file = folder / "one.yaml"
        file.write_text(text("shortest"))
        env = environment(folder / "home")
        give(folder)
        words: list[str | Path] = ["run", file, "--engine", "kernel", "--variant", "tcp"]
        words += ["--out", folder / "out"]
        ended = finish(start(words, folder, prefix=ordinary_user(), env=env))
        assert ended.returncode == 0, ended.stderr
        latencies = Recording.open(folder / "out/tcp/1").frame("latencies")
        assert latencies["rtt_ns"].null_count() == 0
        assert len(latencies) == 20


@needs_bridges
@pytest.mark.parametrize("signals", [(), (signal.SIGINT,), (signal.SIGKILL,)])
def test_nothing_of_open_vswitch_is_left(
    tmp_path: Path, signals: tuple[signal.Signals, ...]
) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(text("shortest", LONG if signals else PING))
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    words: list[str | Path] = ["run", file, "--engine", "kernel", "--variant", "tcp"]
    process = start([*words, "--out", "out"], tmp_path, env=env)
    for number in signals:
        wait_for("Open vSwitch", lambda: _running("ovs-vswitchd", mark))
        os.killpg(process.pid, number)
    ended = finish(process)
    assert "Traceback" not in ended.stderr
    assert (ended.returncode == 0) == (signals == ()), ended.stderr
    wait_for("the end of all processes", lambda: not marked(mark))
    kept = {one.name for one in (tmp_path / "out").rglob("*") if one.is_file()}
    assert not {name for name in kept if "ovs" in name or name.endswith((".db", ".ctl"))}


def _running(program: str, mark: str) -> list[int]:
    """The processes with the mark that run the program."""
    return [one for one in marked(mark) if _text(Path(f"/proc/{one}/comm")).strip() == program]


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def test_the_simulator_refuses_bridges() -> None:
    scenario = loads(text(), "bridges.yaml")
    with pytest.raises(ScenarioError) as caught:
        choose(EngineName.SIM, scenario, ["tcp"])
    assert "switches.s1.kind: the sim engine runs no Open vSwitch" in str(caught.value)
