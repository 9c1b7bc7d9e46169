"""`mptcplab broker` as a process."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.engine.launch import wait_for

BROKER = [sys.executable, "-m", "mptcplab", "broker"]
_TIME_TO_END_S = 60


@contextmanager
def running(
    path: Path, *options: str, prefix: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A broker that answers at `path`; `prefix` are words before its command."""
    command = [*prefix, *BROKER, "--socket", str(path), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            wait_for("the broker", lambda: answers(path) or process.poll() is not None)
            assert process.poll() is None, process.communicate()[1]
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_TIME_TO_END_S)
            except subprocess.TimeoutExpired:
                process.kill()


def answers(path: Path) -> bool:
    """Whether a broker listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        return client.connect_ex(str(path)) == 0
