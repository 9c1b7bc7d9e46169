"""Controllers of others: programs in the lab, and those that listen outside of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import MARK, environment, finish, start, wait_for
from tests.engine.system import marked, namespaces_refused, needs_namespaces, warnings_of_the_run

from mptcplab.engine import run
from mptcplab.engine.choice import EngineName, choose
from mptcplab.engine.job import EngineError
from mptcplab.recording import Recording, Status
from mptcplab.scenario import ScenarioError, loads

HERE = Path(__file__).parent
FLOODER = f"{sys.executable} {HERE / 'flooder.py'}"
LEARNING = f"{sys.executable} {HERE / 'os_ken_launcher.py'} learning_switch"
PING = "ping: {from: client, to: server, interval: 50 ms, count: 20}"
LONG = "ping: {from: client, to: server, interval: 100 ms, count: 600}"

os_ken = pytest.mark.skipif(find_spec("os_ken") is None, reason="there is no os-ken")


def text(controller: str, traffic: str = PING) -> str:
    """A chain of two switches between two hosts."""
    return f"""\
hosts: {{client: {{interfaces: {{eth: {{}}}}}}, server: {{interfaces: {{eth: {{}}}}}}}}
switches: {{s1: {{}}, s2: {{}}}}
controller: {{{controller}}}
links:
  in: {{between: [client.eth, s1.in], rate: 100 Mbit/s}}
  path: {{between: [s1.out, s2.in], rate: 10 Mbit/s, delay: 5 ms}}
  out: {{between: [s2.out, server.eth], rate: 100 Mbit/s}}
traffic: [{{{traffic}}}]
variants: {{it: {{protocol: tcp}}}}
repetitions: 1
"""


def recorded(folder: Path, controller: str, traffic: str = PING) -> Recording:
    scenario = loads(text(controller, traffic), "controller.yaml", folder)
    return run(scenario, "it", folder / "out", engine="kernel")


def answered(recording: Recording) -> pl.Series:
    return recording.frame("latencies")["rtt_ns"].drop_nulls()


def said(recording: Recording, stream: str = "stdout") -> list[str]:
    """The lines that the controller's program wrote."""
    rows = recording.frame("outputs").filter(traffic="controller", stream=stream)
    return rows["text"].to_list()


@contextmanager
def outside(port: int) -> Iterator[None]:
    """A controller in the namespace of the tests."""
    words = [sys.executable, str(HERE / "flooder.py"), str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        yield
        process.terminate()


@needs_namespaces
def test_a_program_controls_the_switches(tmp_path: Path) -> None:
    recording = recorded(tmp_path, f"command: {FLOODER}")
    delays_ns = answered(recording)
    assert len(delays_ns) == 20
    assert delays_ns.min() >= 10e6  # type: ignore[operator]
    assert said(recording)[:3] == ["listening", "a switch has come", "a switch has come"]
    (row,) = recording.frame("programs").to_dicts()
    assert (row["traffic"], row["node"], row["side"]) == ("controller",) * 3
    assert row["command"] == FLOODER
    assert row["ended"] == "stopped"
    assert warnings_of_the_run(recording) == []


@needs_namespaces
@os_ken
@pytest.mark.parametrize("way", ["up", "down"])
def test_os_ken_controls_the_switches(tmp_path: Path, way: str) -> None:
    bulk = f"bulk: {{from: client, to: server, direction: {way}, size: 1 MB}}"
    recording = recorded(tmp_path, f"command: {LEARNING}", bulk)
    assert recording.frame("transfers")["error"].to_list() == [None]
    assert sorted(said(recording)) == ["switch 1 with 16 tables", "switch 2 with 16 tables"]


@needs_namespaces
@os_ken
def test_the_channel_takes_its_time(tmp_path: Path) -> None:
    recording = recorded(tmp_path, f"command: {LEARNING}, delay: 20 ms, discovery: 500 ms")
    # The first packet waits for the controller at both switches, both ways at least once each.
    first_ns = recording.frame("latencies").sort("t_ns")["rtt_ns"][0]
    assert first_ns > 10e6 + 4 * 20e6
    assert answered(recording).min() < 20e6  # type: ignore[operator]


@needs_namespaces
def test_a_controller_at_an_address_is_reached_from_the_lab(tmp_path: Path) -> None:
    with outside(port := 26653):
        recording = recorded(tmp_path, f"address: 'tcp:127.0.0.1:{port}'")
    assert len(answered(recording)) == 20
    assert recording.frame("programs").is_empty()


@needs_namespaces
def test_switches_go_on_without_their_controller(tmp_path: Path) -> None:
    recording = recorded(tmp_path, f"command: {FLOODER} --end", PING.replace("20", "60"))
    assert len(answered(recording)) == 60
    events = recording.frame("events").filter(kind="controller").sort("t_ns")
    told = events.select("subject", "label").rows()
    assert ("controller", f"{FLOODER} --end: exit status: 3") in told
    assert {("s1", "disconnected"), ("s2", "disconnected")} <= set(told)
    assert warnings_of_the_run(recording) == [
        f"the controller `{FLOODER} --end` ended by itself: exit status: 3"
    ]
    (row,) = recording.frame("programs").to_dicts()
    assert (row["ended"], row["status"]) == ("itself", 3)


@needs_namespaces
@pytest.mark.parametrize("options", ["", " --deaf"])
def test_a_daemon_in_the_group_of_its_launcher_serves_until_the_end(
    tmp_path: Path, options: str
) -> None:
    recording = recorded(tmp_path, f"command: {FLOODER} --daemon{options}")
    assert len(answered(recording)) == 20
    assert said(recording)[:3] == ["listening", "a switch has come", "a switch has come"]
    (row,) = recording.frame("programs").to_dicts()
    assert (row["ended"], row["status"]) == ("itself", 0)
    events = recording.frame("events").filter(kind="controller", label="disconnected")
    assert events.is_empty()


@needs_namespaces
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("nosuchprog", "the controller `nosuchprog` cannot be run: no such file or directory"),
        (
            "sh -c 'echo no such application >&2; exit 1'",
            "ended before every switch was connected to it (exit status: 1): no such application",
        ),
    ],
)
def test_a_program_that_does_not_serve_is_named(tmp_path: Path, command: str, words: str) -> None:
    with pytest.raises(EngineError) as caught:
        recorded(tmp_path, f'command: "{command}"')
    assert words in str(caught.value)
    assert Recording.open(tmp_path / "out").manifest.status is Status.FAILED


@needs_namespaces
@pytest.mark.parametrize("options", ["", "--deaf", "--deaf --leave", "--deaf --daemon"])
@pytest.mark.parametrize("signals", [(), (signal.SIGINT,), (signal.SIGKILL,)])
def test_nothing_of_a_program_is_left(
    tmp_path: Path, options: str, signals: tuple[signal.Signals, ...]
) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(text(f"command: {FLOODER} {options}", LONG if signals else PING))
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    process = start(["run", file, "--engine", "kernel", "--out", "out"], tmp_path, env=env)
    for number in signals:
        wait_for("the program", lambda: _runs("flooder.py", mark))
        os.killpg(process.pid, number)
    ended = finish(process)
    assert "Traceback" not in ended.stderr
    wait_for("the end of all processes", lambda: not marked(mark))


def _runs(program: str, mark: str) -> bool:
    """Whether a process with the mark runs the program."""
    lines = (Path(f"/proc/{number}/cmdline") for number in marked(mark))
    return any(program in _text(line) for line in lines)


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("controller", "words"),
    [
        (f"command: {FLOODER}", "controller.command: the sim engine runs no programs"),
        (
            "address: 'tcp:127.0.0.1:6653'",
            "controller.address: the sim engine's virtual time waits for no controller",
        ),
    ],
)
def test_the_simulator_refuses_controllers_of_others(controller: str, words: str) -> None:
    scenario = loads(text(controller), "controller.yaml")
    with pytest.raises(ScenarioError) as caught:
        choose(EngineName.SIM, scenario, ["it"])
    assert words in str(caught.value)
    if namespaces_refused() is None:
        assert "use the kernel engine (--engine kernel)" in str(caught.value)
