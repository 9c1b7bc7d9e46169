"""Real agents with their server and target in a network of the kernel engine."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.cli.host_program import NOT_INSTALLED, environment, find_program
from mptcplab.demo.network import Network, network
from mptcplab.measure.plan import Direction, most_bytes, steps
from mptcplab.scenario import Scenario
from mptcplab.server import intake
from mptcplab.server.plan import Plan
from mptcplab.server.result import Result
from mptcplab.server.secret import EnrolmentLine, new_secret
from mptcplab.server.state import State
from mptcplab.server.store import enrolments, plans, results
from mptcplab.server.store.connection import changing

_PORT = 4430
_OPENING_BYTES = 20_000
"""Of a session, before the first experiment."""
_DAILY_BYTES = 10**14
_HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Transfers:
    """The transfers that a plan asks for."""

    size_bytes: int
    repeat: int
    directions: Sequence[Direction] = tuple(Direction)
    congestion_control: str = "cubic"

    def most_bytes(self, paths: int) -> int:
        """Data that all experiments over so many paths take at most."""
        wanted = (None, *self.directions)
        planned = steps(paths, [self.size_bytes], self.repeat, seed=1)
        return most_bytes([one for one in planned if one.direction in wanted], paths)


@dataclass(frozen=True)
class Lab:
    """A network with a server and a target on one host, and an agent on another."""

    inside: Network
    host: str
    """The server's and the target's."""
    agent: str
    folder: Path
    program: str
    target_token: str
    state: State

    def measured(self, transfers: Transfers, before: Sequence[str] = ()) -> Result:
        """The result of a plan, carried out once by an agent that begins with these words.

        Its budget leaves nothing for loads.
        """
        paths = len(self.inside.addresses(self.agent))
        told = {
            "target": {"host": self.inside.address(self.host), "token": self.target_token},
            "sizes_bytes": [transfers.size_bytes],
            "directions": transfers.directions,
            "repeat": transfers.repeat,
            "congestion_control": transfers.congestion_control,
            "schedule": {"every_s": 3_600},
            "budget_bytes": transfers.most_bytes(paths) + _OPENING_BYTES,
            "daily_bytes": _DAILY_BYTES,
        }
        plan = Plan.model_validate_json(json.dumps(told))
        connection = self.state.connect()
        try:
            with changing(connection):
                name = f"plan-{time.monotonic_ns()}"
                own, _ = plans.put(connection, name, plan, _now_ms())
            self._run_agent(before)
            found = [row["id"] for row in _rows(connection) if row["plan"] == own]
            with changing(connection):
                plans.remove(connection, name, _now_ms())
            contents = [results.content(connection, one) for one in found]
        finally:
            connection.close()
        if len(contents) != 1 or contents[0] is None:
            raise RuntimeError(f"{len(contents)} results of an experiment have arrived")
        result, _ = intake.read_kept(contents[0])
        if result.outcome != "complete":
            raise RuntimeError(f"the agent's experiment is {result.outcome}: {result.reason}")
        return result

    def _run_agent(self, before: Sequence[str]) -> None:
        words = ("agent", "--once", "--state", str(self.folder / "agent"))
        enrolment = ("--enrol-file", str(self.folder / "enrolment"))
        with (self.folder / "agent.txt").open("a") as log:
            agent = self.inside.start(
                self.agent,
                (*before, self.program, *words, *enrolment),
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        if agent.wait() != 0:
            raise RuntimeError(f"the agent: {(self.folder / 'agent.txt').read_text().strip()}")


@contextmanager
def lab(
    folder: Path, scenario: Scenario, host: str, agent: str, variant: str = "mptcp", seed: int = 1
) -> Iterator[Lab]:
    """The network of a scenario's variant, with a server and a target on `host`.

    All of it has ended afterwards.

    Raises:
        EngineError: the kernel engine cannot build it here.
        RuntimeError: a program is missing, or has ended.

    """
    program = find_program()
    if program is None:
        raise RuntimeError(NOT_INSTALLED)
    with network(scenario, variant, seed) as inside:
        state = State(folder / "server")
        listen = ("--listen", f"{inside.address(host)}:{_PORT}", "--json")
        words = ("-m", "mptcplab", "server", "--state", str(state.folder), *listen)
        told = json.loads(_first_line(inside, host, (sys.executable, *words)))
        token = _first_line(
            inside, host, (program, "target", "--listen", f"{inside.address(host)}:4420")
        )
        secret = new_secret()
        connection = state.connect()
        try:
            with changing(connection):
                now_ms = _now_ms()
                enrolments.add(connection, secret, 1, now_ms + _HOUR_MS, now_ms)
        finally:
            connection.close()
        line = EnrolmentLine(told["url"], told["fingerprint"], secret).text()
        (folder / "enrolment").write_text(line)
        yield Lab(inside, host, agent, folder, program, token, state)


def _first_line(inside: Network, host: str, words: Sequence[str]) -> str:
    process = inside.start(
        host,
        words,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    line: str = process.stdout.readline().strip()
    if not line:
        raise RuntimeError(f"{words[0]} has ended with status {process.wait()}")
    return line


def _rows(connection: Any) -> Iterator[dict[str, Any]]:
    since = 0
    while found := results.listed(connection, since=since, limit=results.MOST_LISTED):
        yield from found
        since = found[-1]["number"]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
