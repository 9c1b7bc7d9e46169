"""A run: all goes wrong by a seed, and then nothing more; the account must be exact."""

from __future__ import annotations

import http.client
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..api import Api
from . import clock, proxy, room
from .check import check
from .programs import Fleet, free_ports
from .proxy import Way
from .trouble import Trouble
from .witness import Witness

_EVERY_S = 0.6
"""Mean time between two things that go wrong."""
_LOOK_S = 0.05
_LONGEST_START_S = 20.0
_COUNT_EVERY_S = 1.0
_LONGEST_S = 900.0
_LONGEST_CALM_S = 240.0
_PLAN: dict[str, object] = {
    "sizes_bytes": [30_000],
    "directions": ["down"],
    "repeat": 1,
    "schedule": {"every_s": 1},
    # Too little for a transfer that loads the path for seconds.
    "budget_bytes": 400_000,
    "daily_bytes": 10**14,
}


class ChaosError(Exception):
    """A result that was lost, or came twice; the text names all that is wrong."""


@dataclass(frozen=True)
class Account:
    """The figures of a run."""

    results: int
    dropped: int
    dropped_and_here: int
    """Of these the ones that had arrived, whose answers were lost."""
    outcomes: Counter[str]
    witnessed: int
    """Results that were seen on agents' disks, before the server had them."""
    repeated: int
    """Deliveries of results that the server had."""
    troubles: Counter[str]
    starts: int
    """Of programs."""
    took_s: float
    left_out: list[str] = field(default_factory=list)
    """Kinds of trouble that this system does not allow, with the reason."""


def run(folder: Path, program: str, seed: int, agents: int, results: int) -> Account:
    """Until there are so many results, and each of them is accounted for.

    Raises:
        ChaosError: the account is not exact, or has not become so in time.

    """
    began = time.monotonic()
    left_out = []
    disks = {"server": "40m", "target": "1m"} | {f"agent-{one}": "1m" for one in range(agents)}
    with ExitStack() as stack:
        own_room = stack.enter_context(room.opened(folder / "disks", disks))
        if not own_room.has_disks:
            left_out.append("full disks: this system allows no mounts of one's own")
        library = clock.built(folder)
        if library is None:
            left_out.append("steps of clocks: there is no compiler")
        server_port, target_port, _ = free_ports(3)
        own_proxy = stack.enter_context(proxy.started(server_port))
        fleet = Fleet(own_room, folder, program, library, own_proxy, server_port, target_port)
        stack.callback(fleet.kill)
        api = fleet.begin(agents, _PLAN)
        witness = Witness([own_room.outside(f"{one.name}/state") for one in fleet.agents])
        trouble = Trouble(fleet, witness, random.Random(seed), library is not None)
        _until(results, api, trouble, witness)
        _calm(api, fleet, trouble, witness)
        found = check(api, fleet, witness)
        if wrong := found.wrong + trouble.refused:
            raise ChaosError(f"seed {seed}: " + "; ".join(wrong))
        return Account(
            found.results,
            found.dropped,
            found.dropped_and_here,
            found.outcomes,
            len(witness.seen),
            trouble.repeated,
            trouble.done,
            sum(one.starts for one in fleet.every()),
            time.monotonic() - began,
            left_out,
        )


def _until(results: int, api: Api, trouble: Trouble, witness: Witness) -> None:
    """Makes trouble until the server has so many results."""
    began = counted = due = time.monotonic()
    while (now := time.monotonic()) - began < _LONGEST_S:
        if now - counted > _COUNT_EVERY_S:
            counted = now
            told = _maybe(lambda: api.told("GET", "/api/v1/agents"))
            if told is not None and sum(one["results"] for one in told["agents"]) >= results:
                return
        # One that is being started is left alone: a slow machine would never get it up.
        if now >= due and (api.is_up() or now - due > _LONGEST_START_S):
            trouble.one()
            due = now + trouble.chance.expovariate(1 / _EVERY_S)
        trouble.repair()
        witness.look()
        time.sleep(_LOOK_S)
    raise ChaosError(f"there were no {results} results within {_LONGEST_S:.0f} s")


def _calm(api: Api, fleet: Fleet, trouble: Trouble, witness: Witness) -> None:
    """Repairs everything, and waits until agents have sent all."""
    trouble.repair(at_once=True)
    fleet.proxy.way = Way.OPEN
    fleet.proxy.cut()
    fleet.server.start()
    began = time.monotonic()
    while not fleet.end_plan(api):
        _wait(began, "the server does not take the end of the plan")
    # Agents that wait after many failures would wait for long.
    for agent in fleet.agents:
        agent.kill()
    witness.look()
    since_ms = time.time_ns() // 1_000_000
    for agent in fleet.agents:
        agent.start()
    while not _are_done(_maybe(lambda: api.told("GET", "/api/v1/agents")), since_ms):
        witness.look()
        _wait(began, "agents do not send all that they have")


def _are_done(told: dict[str, Any] | None, since_ms: int) -> bool:
    return told is not None and all(
        one["contact"] is not None
        and one["contact_ms"] >= since_ms
        and one["contact"]["state"] == "idle"
        and not one["contact"]["spooled"]
        for one in told["agents"]
    )


def _wait(began: float, trouble: str) -> None:
    if time.monotonic() - began > _LONGEST_CALM_S:
        raise ChaosError(f"{trouble} within {_LONGEST_CALM_S:.0f} s")
    time.sleep(_COUNT_EVERY_S / 2)


def _maybe(ask: Callable[[], Any]) -> Any | None:
    """An answer; null where there is none now."""
    try:
        return ask()
    except (OSError, http.client.HTTPException, RuntimeError):
        return None
