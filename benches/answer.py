"""How long commands take from the key to the answer, as whole processes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def measure(effort: Effort) -> list[Figure]:
    """A short simulation with its tables, and the commands that run nothing."""
    return [
        figure(
            f"mptcplab {' '.join(words)}",
            "s",
            [_taken_s(words) for _ in range(effort.repeat)],
            None,
            most,
        )
        for words, most in _COMMANDS
    ]


def _taken_s(words: list[str]) -> float:
    command = [str(Path(sys.executable).with_name("mptcplab")), *words]
    with tempfile.TemporaryDirectory(prefix="mptcplab-") as folder:
        begun = time.perf_counter()
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        return time.perf_counter() - begun
