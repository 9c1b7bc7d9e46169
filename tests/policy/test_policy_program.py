"""Policies in Python as programs: their lines, and runs of the kernel engine that ask them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.engine.launch import MARK, environment, finish, start, wait_for
from tests.engine.system import marked, needs_namespaces, warnings_of_the_run
from tests.policy.worlds import SWITCHED, switched

from mptcplab.engine import EngineError, run
from mptcplab.recording import Recording, Status

CHOOSE = "def choose(connection, subflow, paths):\n"
ALONE = CHOOSE + (
    "    print('asked for', subflow.flow.source)\n"
    "    return paths.disjoint[1] if not connection.subflows else None\n"
)
FLOW = ["10.0.1.1", "10.0.1.3", 6, 5000, 80]
PATH = [[[1, 3, 2, 3]], 10_000_000, 5_000_000, 0, 0, 0, 0]
ROUND = [[[1, 4, 3, 1], [3, 2, 2, 4]], None, None, 7, 0, 0, 0]
REQUEST = [[FLOW, True, None, 0, [], 9], [FLOW, False], [PATH, ROUND], [PATH]]


@contextmanager
def program(source: str) -> Iterator[Any]:
    """The lines of the socket of a policy's program."""
    ours, theirs = socket.socketpair()
    words = [sys.executable, "-P", "-c", "from mptcplab.policy.program import main; main()"]
    with ours, theirs, subprocess.Popen(words, stdin=theirs.fileno()) as process:
        theirs.close()
        with ours.makefile("rw") as lines:
            say(lines, {"name": "own.py:choose", "source": source})
            yield lines
        ours.shutdown(socket.SHUT_RDWR)
        assert process.wait() == 0


def say(lines: Any, value: object) -> None:
    lines.write(json.dumps(value) + "\n")
    lines.flush()


def test_it_answers_by_its_socket_what_it_prints_is_not_there() -> None:
    with program(CHOOSE + "    print('x')\n    return paths.disjoint[1]\n") as lines:
        assert json.loads(lines.readline()) == {"answer": 0}
        for _ in range(3):
            say(lines, REQUEST)
            assert json.loads(lines.readline()) == {"answer": 1}


def test_its_standard_input_is_empty() -> None:
    with program(CHOOSE + "    return input()\n") as lines:
        assert json.loads(lines.readline()) == {"answer": 0}
        say(lines, REQUEST)
        error = json.loads(lines.readline())["error"]
    assert error.startswith("own.py:2: EOFError: EOF when reading a line, when choose was asked")


def test_a_file_that_fails_is_told_at_once() -> None:
    with program("x = 1 / 0\n" + ALONE) as lines:
        error = json.loads(lines.readline())["error"]
    assert error.startswith("own.py:1: ZeroDivisionError: division by zero, when the file was lo")


@needs_namespaces
def test_the_kernel_engine_asks_it_and_keeps_what_it_prints(tmp_path: Path) -> None:
    recording = run(switched(tmp_path, ALONE), "mptcp", tmp_path / "out", engine="kernel")
    events = recording.frame("events").filter(kind="controller").sort("t_ns")
    decisions = [row["label"] for row in events.to_dicts() if ":" in row["subject"]]
    assert decisions[0] == "over wide"
    assert set(decisions[1:]) == {"refused"}
    (row,) = recording.frame("programs").to_dicts()
    assert (row["command"], row["ended"]) == ("own.py:choose", "stopped")
    printed = recording.frame("outputs").filter(traffic="controller")
    assert printed["text"].to_list()[0] == "asked for 10.0.1.1"
    assert len(printed) == len(decisions)
    assert warnings_of_the_run(recording) == []


@needs_namespaces
@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            f"{CHOOSE}    return 1 / 0\n",
            r"own\.py:2: ZeroDivisionError: division by zero, when cho",
        ),
        (f"x = [][1]\n{ALONE}", r"own\.py:1: IndexError: list index out of range, when the file"),
        (
            f"import os\n\n{CHOOSE}    os._exit(0)\n",
            r"own\.py:choose: the program of the policy has ended or does not answer",
        ),
    ],
)
def test_what_is_wrong_with_it_ends_a_run_of_the_kernel_engine(
    tmp_path: Path, policy: str, message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        run(switched(tmp_path, policy), "mptcp", tmp_path / "out", engine="kernel")
    assert Recording.open(tmp_path / "out").manifest.status == Status.FAILED


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_of_it_is_left_after_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    asked = tmp_path / "asked"
    policy = f"{CHOOSE}    open({str(asked)!r}, 'w')\n    return paths.disjoint[0]\n"
    switched(tmp_path, policy, SWITCHED.replace("100 kB", "100 MB"))
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    words = ["run", "switched.yaml", "--engine", "kernel", "--out", "out"]
    process = start(words, tmp_path, env=env)
    wait_for("the first request", asked.exists)
    os.killpg(process.pid, number)
    assert "Traceback" not in finish(process).stderr
    wait_for("the end of all processes", lambda: not marked(mark))
