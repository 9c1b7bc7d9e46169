"""How long commands take from the key to the answer, as whole processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mptcplab.cli.host_program import NOT_INSTALLED, find_program

from .effort import Effort
from .figures import Figure, figure

_RUN = ["run", "lisbon/A1", "--engine", "sim", "--variant", "mptcp", "--repeat", "1"]
_COMMANDS = (
    (_RUN, 1.0),
    (["list"], 0.25),
    (["check", "lisbon/A1"], 0.25),
    (["show", "lisbon/A1"], 0.25),
)
"""Each with the seconds that it may take."""
_KEEPS_NOTHING = "PYTHONDONTWRITEBYTECODE"
_HOST_START = ["nc", "--help"]
_HOST_START_MS = 10.0
_HOST_STARTS = 20
"""For each repetition, of which the median counts: a start is soon over."""


def measure(effort: Effort) -> list[Figure]:
    """A short simulation with its tables, the commands that run nothing, and the host program."""
    program = str(Path(sys.executable).with_name("mptcplab"))
    of_laboratory = [
        figure(
            f"mptcplab {' '.join(words)}",
            "s",
            [_taken_s([program, *words]) for _ in range(effort.repeat)],
            None,
            most,
        )
        for words, most in _COMMANDS
    ]
    return [*of_laboratory, _host_start(effort)]


def _host_start(effort: Effort) -> Figure:
    program = find_program()
    assert program is not None, NOT_INSTALLED
    command = [program, *_HOST_START]
    taken_ms = [
        1000 * statistics.median(_taken_s(command) for _ in range(_HOST_STARTS))
        for _ in range(effort.repeat)
    ]
    name = f"mptcplab-host {' '.join(_HOST_START)}"
    return figure(name, "ms", taken_ms, None, _HOST_START_MS)


def _usual() -> dict[str, str]:
    """The environment of a user, whose interpreter keeps what it has compiled of the sources."""
    return {name: value for name, value in os.environ.items() if name != _KEEPS_NOTHING}


def _taken_s(command: list[str]) -> float:
    with tempfile.TemporaryDirectory(prefix="mptcplab-") as folder:
        begun = time.perf_counter()
        subprocess.run(command, cwd=folder, env=_usual(), capture_output=True, check=True)
        return time.perf_counter() - begun
