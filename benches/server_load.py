"""The server of agents under the load of a thousand of them, by TLS, on either database."""

from __future__ import annotations

import base64
import hashlib
import itertools
import random
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mptcplab.server.state import State

from .effort import Effort
from .figures import Figure, figure, quantile
from .served import made
from .served.clients import Clients, Course, Request, Round
from .served.disk import syncs_per_s
from .served.place import is_postgresql_here, new_state
from .served.running import Agent, Server, enrolled, started

_AGENTS = 1_000
_OFFERED_PER_S = 330
"""Above the rate that is wanted, as the last answers come after the last result."""
_LARGE_PER_S = 100
"""Of results that are six times as large, of which no rate is wanted."""
_LEAST_PER_S = 300
_MOST_PUT_MS = 250
_AT_ONCE = 64
_ROUNDS_PER_S = 100
_BODIES = 40
"""Different results; each time that one is sent it has an id and a number of its own."""
_BEGAN_MS = 1_800_000_000_000
_CONTACT = (
    b'{"version":"0.1.0","kernel":"6.18.44","next_sequence":1,"spooled":0,"spooled_bytes":0,'
    b'"dropped":{"size":0,"age":0},"quarantined":[],"quarantined_count":0,"state":"idle",'
    b'"problem":null,"paths":[{"interface":"dsl0","source":"192.168.1.20"}]}'
)
_AGENT = "f" * 16
_SEQUENCE = 9_007_199_254_740_001
_FORMS = {
    "one transfer": (made.ONE_TRANSFER, _OFFERED_PER_S),
    "the guide's plan": (made.AS_IN_THE_GUIDE, _LARGE_PER_S),
}


def measure(effort: Effort) -> list[Figure]:
    """Results a second, the time of a PUT, and the processor's time of each, on SQLite."""
    return _measured(effort, postgresql=False)


def measure_postgresql(effort: Effort) -> list[Figure]:
    """The same on PostgreSQL, whose processor's time is not the server's."""
    return _measured(effort, postgresql=True) if is_postgresql_here() else []


def _measured(effort: Effort, *, postgresql: bool) -> list[Figure]:
    figures = []
    for name, (experiment, per_s) in _FORMS.items():
        runs = [_run(effort, experiment, per_s, postgresql) for _ in range(effort.repeat)]
        title = f"{name} ({runs[0].body_bytes / 1e3:.0f} kB, {per_s} offered a second)"
        figures += _figures(title, runs, is_judged=per_s == _OFFERED_PER_S)
    return figures


@dataclass(frozen=True)
class _Load:
    """A load, and the processor's time that it took."""

    put_s: Sequence[float]
    took_s: float
    server_s: float
    generator_s: float
    busy: float
    """Share of the machine's processors that was not idle, over all programs."""

    @property
    def per_s(self) -> float:
        """Results a second."""
        return len(self.put_s) / self.took_s

    @property
    def server_ms(self) -> float:
        """The server's time for each result."""
        return self.server_s / len(self.put_s) * 1e3

    @property
    def generator_ms(self) -> float:
        """The generator's time for each result."""
        return self.generator_s / len(self.put_s) * 1e3


@dataclass(frozen=True)
class _Run:
    """Everything of one server."""

    body_bytes: float
    syncs_per_s: float
    even: _Load
    """Results at a given rate, by agents that keep their connections."""
    most: _Load
    """As many as the server takes, `_AT_ONCE` at a time."""
    rounds: _Load
    """A connection, a question for plans, a result and a contact, each time."""


def _figures(name: str, runs: Sequence[_Run], *, is_judged: bool) -> list[Figure]:
    least, most = (_LEAST_PER_S, _MOST_PUT_MS) if is_judged else (None, None)

    def of(
        title: str,
        unit: str,
        take: Callable[[_Run], float],
        low: float | None = None,
        high: float | None = None,
    ) -> Figure:
        return figure(f"{name}: {title}", unit, [take(run) for run in runs], low, high)

    return [
        of("fsync of the disk", "/s", lambda run: run.syncs_per_s),
        of("results", "/s", lambda run: run.even.per_s, low=least),
        of("PUT, median", "ms", lambda run: quantile(run.even.put_s, 0.5) * 1e3),
        of(
            "PUT, 99th percentile",
            "ms",
            lambda run: quantile(run.even.put_s, 0.99) * 1e3,
            high=most,
        ),
        of("server's processor for a result", "ms", lambda run: run.even.server_ms),
        of("generator's processor for a result", "ms", lambda run: run.even.generator_ms),
        of("processors busy, all programs", "%", lambda run: run.even.busy * 100),
        of(f"most results, {_AT_ONCE} at once", "/s", lambda run: run.most.per_s),
        of("rounds with a connection each", "/s", lambda run: run.rounds.per_s),
        of("their PUT, 99th percentile", "ms", lambda run: quantile(run.rounds.put_s, 0.99) * 1e3),
        of("server's processor for a round", "ms", lambda run: run.rounds.server_ms),
    ]


def _run(effort: Effort, experiment: made.Experiment, per_s: float, postgresql: bool) -> _Run:
    count = effort.sized(_AGENTS, 20)
    with new_state(postgresql=postgresql) as state:
        agents = enrolled(state, count)
        requests = _Requests(agents, experiment)
        before = syncs_per_s(state.folder, effort.seconds / 4)
        with started(state) as server:
            with Clients(server.port, count, is_kept=True).opened() as clients:
                even = _loaded(
                    server,
                    lambda: clients.at_times(
                        *_times(per_s, effort.seconds, count), requests.result
                    ),
                )
                most = _loaded(
                    server,
                    lambda: clients.at_once(
                        min(_AT_ONCE, count), effort.seconds, range(count), requests.result
                    ),
                )
            with Clients(server.port, count, is_kept=False).opened() as clients:
                rounds = _loaded(
                    server,
                    lambda: clients.at_times(
                        *_times(_ROUNDS_PER_S, effort.seconds, count), requests.round
                    ),
                )
        after = syncs_per_s(state.folder, effort.seconds / 4)
        _check(state, requests)
    return _Run(requests.mean_bytes, (before + after) / 2, even, most, rounds)


def _times(per_s: float, seconds: float, agents: int) -> tuple[list[float], list[int]]:
    """Times of chance at a mean rate, and the agents whose results come then."""
    chance = random.Random(1)
    at, times = 0.0, []
    while (at := at + chance.expovariate(per_s)) < seconds:
        times.append(at)
    every = list(range(agents))
    chance.shuffle(every)
    return times, list(itertools.islice(itertools.cycle(every), len(times)))


def _loaded(server: Server, load: Callable[[], Course]) -> _Load:
    server_before, (busy_before, all_before) = server.processor_s(), _machine_ticks()
    course = load()
    busy, every = _machine_ticks()
    if set(course.statuses) - {200, 201, 304} or not course.put_s:
        raise RuntimeError(f"answers by their status: {dict(course.statuses)}")
    return _Load(
        course.put_s,
        course.took_s,
        server.processor_s() - server_before,
        course.processor_s,
        (busy - busy_before) / (every - all_before),
    )


def _machine_ticks() -> tuple[int, int]:
    """Of all processors: those not idle, and all."""
    first = Path("/proc/stat").read_text().partition("\n")[0]
    ticks = [int(one) for one in first.split()[1:9]]
    idle = ticks[3] + ticks[4]
    return sum(ticks) - idle, sum(ticks)


def _check(state: State, requests: _Requests) -> None:
    """Fails unless each result that was acknowledged is there, once, and none else."""
    with closing(state.connect()) as database:
        kept = {row["id"] for row in database.execute("SELECT id FROM results")}
        count = database.execute("SELECT count(*) AS kept FROM contents").fetchone()["kept"]
    if kept != requests.sent or count != len(kept):
        raise RuntimeError(f"{len(kept)} results are kept of {len(requests.sent)}")


class _Requests:
    """Requests of agents."""

    def __init__(self, agents: Sequence[Agent], experiment: made.Experiment) -> None:
        self._agents = agents
        self._chance = random.Random(1)
        self._sequences = [0] * len(agents)
        self.sent: set[str] = set()
        """Ids of all results."""
        drawn = [
            made.result(experiment, _AGENT, _SEQUENCE, _BEGAN_MS + hour * 3_600_000, self._chance)
            for hour in range(_BODIES)
        ]
        self._bodies = [(one["id"].encode(), made.encoded(one)) for one in drawn]

    @property
    def mean_bytes(self) -> float:
        """Of a result."""
        return sum(len(body) for _, body in self._bodies) / len(self._bodies)

    def result(self, number: int) -> Round:
        """The next result of an agent."""
        agent = self._agents[number]
        own, body = self._chance.choice(self._bodies)
        fresh = str(uuid.UUID(bytes=self._chance.randbytes(16), version=4))
        self.sent.add(fresh)
        body = (
            body.replace(own, fresh.encode(), 1)
            .replace(_AGENT.encode(), agent.id.encode(), 1)
            .replace(f":{_SEQUENCE},".encode(), f":{self._sequences[number]},".encode())
        )
        self._sequences[number] += 1
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        head = _head(agent, f"PUT /api/v1/agent/results/{fresh}", len(body))
        return [Request(head + f"Content-Digest: sha-256=:{digest}:\r\n\r\n".encode() + body)]

    def round(self, number: int) -> Round:
        """All that an agent asks and tells when it has measured once."""
        agent = self._agents[number]
        plans = _head(agent, "GET /api/v1/agent/plans", 0) + b"\r\n"
        contact = _head(agent, "POST /api/v1/agent/contact", len(_CONTACT)) + b"\r\n" + _CONTACT
        return [
            Request(plans, is_put=False),
            *self.result(number),
            Request(contact, is_put=False),
        ]


def _head(agent: Agent, place: str, length: int) -> bytes:
    # As the agent writes it.
    body = f"Content-Type: application/json\r\nContent-Length: {length}\r\n" if length else ""
    return (
        f"{place} HTTP/1.1\r\nHost: 127.0.0.1:4430\r\nUser-Agent: mptcplab-agent/0.1.0\r\n"
        f"Authorization: Bearer {agent.secret}\r\nMptcplab-Protocol: 1\r\n"
        f"Accept: application/json\r\n{body}"
    ).encode()
