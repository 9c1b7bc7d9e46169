"""A controller that runs, as its command starts it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

PATIENCE_S = 60.0
PROGRAM = [sys.executable, "-m", "mptcplab", "controller"]


def refused(*options: str) -> str:
    """The message of a command that does not start."""
    ended = subprocess.run(
        [*PROGRAM, *options], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ended.returncode == 1, ended
    assert "Traceback" not in ended.stderr
    return ended.stderr


@contextmanager
def running(*options: str) -> Iterator[tuple[subprocess.Popen[str], IO[str], str]]:
    """A controller at a port of the loopback: its process, its output, its first line."""
    words = [*PROGRAM, "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout, process.stdout.readline()
        finally:
            process.kill()
