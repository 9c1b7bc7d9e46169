"""A database with many results, filled by the server's own functions."""

from __future__ import annotations

import random
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mptcplab.server import intake
from mptcplab.server.contact import Contact, ContactPath, Dropped
from mptcplab.server.plan import Plan
from mptcplab.server.store import agents, plans, results
from mptcplab.server.store.connection import changing
from mptcplab.server.store.database import Connection

from . import made
from .running import Agent

_DRAWN = 200
"""Different results, each taken in as any other. Copies have their own ids, numbers and times."""
_TOGETHER = 5_000
_DAY_MS = 86_400_000
_PLAN = Plan.model_validate_json(
    '{"target": {"host": "target.example.org", "token": "mptcplab1-AAAA"}, "repeat": 1,'
    ' "sizes_bytes": [1000000], "schedule": {"every_s": 3600},'
    ' "budget_bytes": 50000000, "daily_bytes": 5000000000}'
)
_EXPERIMENT = made.Experiment((1_000_000,), ("down", "up"), 1)


def fill(connection: Connection, own: Sequence[Agent], count: int, now_ms: int, days: int) -> None:
    """Adds so many results of the last days: a tenth of them is the first agent's."""
    chance = random.Random(1)
    drawn = [_drawn(own[0], number, chance) for number in range(_DRAWN)]
    with changing(connection):
        plans.put(connection, "lines", _PLAN, now_ms - days * _DAY_MS)
    every = _turns(len(own), count)
    sequences = [0] * len(own)
    done = 0
    while done < count:
        part = min(_TOGETHER, count - done)
        with changing(connection):
            for number in range(done, done + part):
                agent = next(every)
                at = now_ms - days * _DAY_MS + (days * _DAY_MS - 60_000) * number // count
                one = _of(drawn[number % _DRAWN], own[agent], sequences[agent], at, chance)
                results.put(connection, one, at + 30_000)
                sequences[agent] += 1
        done += part
        if done % 100_000 == 0:
            print(f"{done} results", file=sys.stderr, flush=True)
    with changing(connection):
        for one_agent, sequence in zip(own, sequences, strict=True):
            agents.contacted(connection, one_agent.id, _contact(sequence), now_ms - 30_000)


def _turns(agents: int, count: int) -> Iterator[int]:
    """The agent of each result."""
    others = 0
    for number in range(count):
        if number % 10 == 0 or agents == 1:
            yield 0
        else:
            yield 1 + others % (agents - 1)
            others += 1


def _drawn(agent: Agent, number: int, chance: random.Random) -> intake.Arrival:
    began_ms = 1_700_000_000_000 + number * 7_200_000
    return intake.read(made.encoded(made.result(_EXPERIMENT, agent.id, 0, began_ms, chance)))


def _of(
    one: intake.Arrival, agent: Agent, sequence: int, began_ms: int, chance: random.Random
) -> intake.Arrival:
    own = str(uuid.UUID(bytes=chance.randbytes(16), version=4))
    changed = {"id": own, "agent": agent.id, "sequence": sequence, "began_unix_ms": began_ms}
    return replace(one, result=one.result.model_copy(update=changed))


def _contact(sequence: int) -> Contact:
    return Contact(
        version="0.1.0",
        kernel="6.18.44",
        next_sequence=sequence,
        spooled=0,
        spooled_bytes=0,
        dropped=Dropped(size=0, age=0),
        quarantined=(),
        quarantined_count=0,
        state="idle",
        problem=None,
        paths=tuple(
            ContactPath(interface=name, source=source)
            for name, source in (("dsl0", "192.168.1.20"), ("wwan0", "10.64.3.7"))
        ),
    )
