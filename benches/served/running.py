"""A server as a process, on a folder with agents that were enrolled before."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mptcplab.server.contact import Enrolment
from mptcplab.server.secret import new_secret
from mptcplab.server.state import State
from mptcplab.server.store import enrolments
from mptcplab.server.store.connection import changing

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Agent:
    """An agent that is enrolled."""

    id: str
    secret: str


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    state: State
    port: int
    token: str
    """Of an administrator."""
    url: str
    fingerprint: str

    def processor_s(self) -> float:
        """The processor's time that it has had."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / _TICKS_PER_S


def enrolled(state: State, count: int) -> list[Agent]:
    """New agents of a folder."""
    connection = state.connect()
    now_ms = time.time_ns() // 1_000_000
    token = new_secret()
    made = []
    try:
        with changing(connection):
            enrolments.add(connection, token, count, now_ms + 3_600_000, now_ms)
            for number in range(count):
                secret = secrets.token_urlsafe(32)
                wanted = Enrolment(name=f"agent-{number:04}", version="0.1.0", kernel="6.18.44")
                own = enrolments.enrol(connection, token, wanted, secret, now_ms)
                made.append(Agent(own, secret))
    finally:
        connection.close()
    return made


@contextmanager
def started(state: State, options: Sequence[str] = ()) -> Iterator[Server]:
    """A server with the limits that it has unless told otherwise, over TLS."""
    words = ["server", "--state", str(state.folder), "--listen", "127.0.0.1:0", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mptcplab", *words, *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server has ended with status {process.wait()}")
        told = json.loads(line)
        yield Server(
            process, state, told["port"], told["token"] or "", told["url"], told["fingerprint"]
        )
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
