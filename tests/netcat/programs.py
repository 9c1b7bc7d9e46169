"""`mptcplab nc` as a user starts it, and peers for it."""

import hashlib
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from tests.engine.launch import COMMAND, environment

TIME_LIMIT_S = 60
"""A netcat that hangs fails its test instead of the whole session."""

Stream = int | IO[Any]


class Netcat:
    """One netcat that runs. It is told to tell what happens (`-v`)."""

    def __init__(
        self,
        words: Sequence[object],
        home: Path,
        *,
        stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = subprocess.PIPE,
        prefix: Sequence[str] = (),
    ) -> None:
        self.process = subprocess.Popen(
            [*prefix, str(COMMAND), "nc", "-v", *(str(word) for word in words)],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=home,
            env=environment(home / "home"),
        )
        self.told: list[str] = []

    def wait_for(self, text: str) -> str:
        """Reads its messages up to the first one with `text`, and gives that."""
        assert self.process.stderr is not None
        watchdog = threading.Timer(TIME_LIMIT_S, self.process.kill)
        watchdog.start()
        try:
            for raw in self.process.stderr:
                line = raw.decode().rstrip()
                self.told.append(line)
                if text in line:
                    return line
        finally:
            watchdog.cancel()
        raise AssertionError(f"it ended without '{text}': {self.told}")

    def listening(self) -> "Netcat":
        """Waits until clients can come."""
        self.wait_for("listening on")
        return self

    def end(self, given: bytes | None = None) -> tuple[int, bytes, str]:
        """Gives it `given`, waits for its end; its status, output and messages."""
        try:
            out, err = self.process.communicate(given, timeout=TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        self.told += (err or b"").decode().splitlines()
        return self.process.returncode, out or b"", "\n".join(self.told)


def free_port(family: socket.AddressFamily = socket.AF_INET) -> int:
    """A port that nobody listens at."""
    with socket.socket(family) as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def listener() -> socket.socket:
    """A TCP socket that listens on the loopback."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(TIME_LIMIT_S)
    return server


def port_of(server: socket.socket) -> int:
    """Where it listens."""
    return int(server.getsockname()[1])


def everything(connection: socket.socket) -> bytes:
    """The bytes that come until the peer ends."""
    parts = []
    while part := connection.recv(1 << 20):
        parts.append(part)
    return b"".join(parts)


def digest(content: bytes) -> str:
    """For comparing what is too long to be shown."""
    return hashlib.sha256(content).hexdigest()
