"""The programs: a server, a target and agents, each killed and started again."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..api import Api
from .clock import environment
from .proxy import Proxy
from .room import Room

_SERVER, _TARGET = "server", "target"
_PLAN_NAME = "chaos"


@dataclass
class Program:
    """A program that is killed and started again."""

    name: str
    words: Sequence[str]
    log: Path
    environment: dict[str, str]
    process: subprocess.Popen[str] | None = None
    starts: int = 0

    def start(self) -> None:
        """Starts it where it does not run."""
        if self.runs():
            return
        self.kill()
        self.starts += 1
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | self.environment,
                start_new_session=True,
            )

    def read_line(self) -> str:
        """The first line that it prints; empty where it has ended before."""
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def runs(self) -> bool:
        """Whether it does."""
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """Ends it at once."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


@dataclass
class Fleet:
    """All programs of a run."""

    room: Room
    folder: Path
    program: str
    clock: Path | None
    proxy: Proxy
    server_port: int
    target_port: int
    agents: list[Program] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = self._made(
            _SERVER,
            sys.executable, "-m", "mptcplab", "server", "--json",
            "--state", self.room.inside("server/state"),
            "--listen", f"127.0.0.1:{self.server_port}",
            "--url", f"https://127.0.0.1:{self.proxy.port}",
            "--per-address", "10000",
        )  # fmt: skip
        self.target = self._made(
            _TARGET,
            self.program, "target", "--listen", f"127.0.0.1:{self.target_port}",
            "--state", self.room.inside("target/state"),
        )  # fmt: skip

    def _made(self, name: str, *words: str) -> Program:
        offset = self.folder / f"{name}.clock"
        offset.write_text("0")
        log = self.folder / f"{name}.log"
        return Program(name, self.room.command(*words), log, environment(self.clock, offset))

    def begin(self, count: int, plan: dict[str, object]) -> Api:
        """Starts everything for the first time; the server's API for an administrator."""
        self.server.start()
        told = json.loads(self.server.read_line())
        api = Api(self.server_port, told["token"])
        self.target.start()
        token = self.target.read_line()
        target = {"host": "127.0.0.1", "port": self.target_port, "token": token}
        api.told("PUT", f"/api/v1/plans/{_PLAN_NAME}", plan | {"target": target})
        line = api.told("POST", "/api/v1/enrolments", {"agents": count})["token"]
        enrolment = self.folder / "enrolment"
        enrolment.write_text(line)
        for number in range(count):
            name = f"agent-{number}"
            agent = self._made(
                name,
                self.program, "agent", "--enrol-file", str(enrolment), "--name", name,
                "--state", self.room.inside(f"{name}/state"),
                "--contact-interval", "2s", "--spool-size", "60kB", "--leave-endpoints",
            )  # fmt: skip
            self.agents.append(agent)
            agent.start()
        return api

    def end_plan(self, api: Api) -> bool:
        """Lets no agent begin an experiment any more; whether the server has taken it."""
        try:
            # Gone already, where the answer was lost.
            return api.ask("DELETE", f"/api/v1/plans/{_PLAN_NAME}")[0] in (204, 404)
        except (OSError, http.client.HTTPException):
            return False

    def step_clock(self, program: Program, seconds: int) -> None:
        """Sets the clock of a program, from this moment on."""
        file = self.folder / f"{program.name}.clock"
        # Whole at every moment.
        fresh = file.with_suffix(f".{secrets.token_hex(4)}")
        fresh.write_text(str(seconds))
        fresh.rename(file)

    def every(self) -> list[Program]:
        """All programs."""
        return [self.server, self.target, *self.agents]

    def kill(self) -> None:
        """Ends all programs."""
        for one in self.every():
            one.kill()


def free_ports(count: int) -> list[int]:
    """Ports that nobody has now, one after the other."""
    for first in range(20_000 + secrets.randbelow(10_000), 32_000):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return list(range(first, first + count))
    raise RuntimeError("no ports are free")
