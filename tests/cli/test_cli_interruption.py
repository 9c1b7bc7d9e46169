"""Signals: a second one counts when it is no echo of the first."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from tests.engine.launch import COMMAND

from mptcplab import Result
from mptcplab.cli.interruption import ONE_REQUEST_S, Interruption


class Clock:
    """A clock that is set."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_at_once_are_one_request(number: signal.Signals) -> None:
    clock, stopped = Clock(), []
    interruption = Interruption(stop=lambda: stopped.append(1), clock=clock)
    with interruption.listening():
        for after_s in (0.0, 0.05, 0.9 * ONE_REQUEST_S):
            clock.now_s = 100.0 + after_s
            os.kill(os.getpid(), number)
    assert interruption.requested
    assert stopped == [1]


def test_a_signal_while_the_first_is_handled_is_the_same_request() -> None:
    clock, stopped = Clock(), []

    def stop() -> None:
        stopped.append(1)
        os.kill(os.getpid(), signal.SIGINT)
        clock.now_s += 2 * ONE_REQUEST_S

    interruption = Interruption(stop=stop, clock=clock)
    with interruption.listening():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert stopped == [1]


def test_a_later_one_ends_everything_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    interruption = Interruption(clock=clock)

    def interrupted_twice() -> None:
        with interruption.listening():
            os.kill(os.getpid(), signal.SIGINT)
            clock.now_s += ONE_REQUEST_S
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(typer.Exit) as raised:
        interrupted_twice()
    assert raised.value.exit_code == 130
    told = "aborted by a second signal: what was not written yet is lost\n"
    assert capsys.readouterr().err == told


def test_a_simulation_that_timeout_ends_is_kept(tmp_path: Path) -> None:
    words = "run lisbon/A1 --engine sim --variant mptcp --repeat 1 --duration 100000s"
    # It signals the process, and at once its group.
    ended = subprocess.run(
        ["timeout", "-s", "INT", "15", COMMAND, *words.split(), "--out", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr.splitlines()[-1] == "interrupted: what was measured until then is kept"
    (recording,) = Result.open(tmp_path / "out")["mptcp"]
    assert recording.manifest.status == "interrupted"
    assert recording.transfers["bytes"].item() > 0


TABLES = """
import os, signal, threading, time
from mptcplab.interruption import Interruption

def interrupt():
    for _ in range(20):
        time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

interruption = Interruption(clock=lambda: 0.0)
with interruption.listening():
    import polars
    thread = threading.Thread(target=interrupt)
    thread.start()
    while thread.is_alive():
        polars.DataFrame({"a": range(100_000)}).lazy().sort("a", descending=True).collect()
print(interruption.requested)
"""


def test_signals_while_tables_are_computed_are_a_request() -> None:
    ended = subprocess.run([sys.executable, "-c", TABLES], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("True\n", "")


AFTER_THE_END = """
import atexit, os, signal, sys

atexit.register(os.kill, os.getpid(), signal.{number})
sys.argv = ["mptcplab", *{words}]
from mptcplab.cli import main
main()
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    ("words", "status"), [(["list"], 0), (["new", "x"], 1), (["run", "--x"], 2)]
)
def test_a_signal_after_the_end_leaves_the_status(
    number: str, words: list[str], status: int, tmp_path: Path
) -> None:
    code = AFTER_THE_END.format(number=number, words=words)
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == status, ended.stderr
    assert "KeyboardInterrupt" not in ended.stderr


WHILE_LOADING = """
import os, signal, sys

class Press:
    def find_spec(self, name, path, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press())
sys.argv = ["mptcplab", "list"]
from mptcplab.cli import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "mptcplab.cli.ending", "mptcplab.scenario.entries"])
def test_ctrl_c_while_modules_are_loaded_says_nothing(module: str) -> None:
    code = WHILE_LOADING.format(module=module)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
