"""The things that go wrong."""

from __future__ import annotations

import http.client
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .programs import Fleet, Program
from .proxy import Way
from .witness import Witness

_LONGEST_S = 2.5
"""Of what is repaired afterwards."""
_DAY_S = 86_400
_STEPS_S = (-400 * _DAY_S, -_DAY_S, -3_600, -5, 5, 3_600, _DAY_S, 29 * _DAY_S)
_AT_ONCE = 12


@dataclass
class Trouble:
    """Makes trouble by chance, and repairs it."""

    fleet: Fleet
    witness: Witness
    chance: random.Random
    has_clock: bool
    done: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    """Deliveries of results that the server had."""
    refused: list[str] = field(default_factory=list)
    """Deliveries that it should have taken."""
    _repairs: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    _down: set[str] = field(default_factory=set)
    """Programs that will be started again."""

    def one(self) -> None:
        """Makes one trouble."""
        kinds: dict[str, tuple[int, Callable[[], None]]] = {
            "agent killed": (6, self._kill_agent),
            "target killed": (1, lambda: self._kill(self.fleet.target)),
            "server killed": (2, lambda: self._kill(self.fleet.server)),
            "connections cut": (4, self.fleet.proxy.cut),
            "server not reached": (1, lambda: self._way(Way.CLOSED)),
            "answers lost": (3, lambda: self._way(Way.ONE_WAY)),
            "nothing goes on": (1, lambda: self._way(Way.SILENT)),
            "results repeated in another order": (3, self._repeat),
        }
        if self.fleet.room.has_disks:
            kinds["server's disk full"] = 2, lambda: self._fill("server")
            kinds["agent's disk full"] = 4, lambda: self._fill(self._agent().name)
        if self.has_clock:
            kinds["agent's clock set"] = 3, lambda: self._step(self._agent())
            kinds["server's clock set"] = 1, lambda: self._step(self.fleet.server)
        (name,) = self.chance.choices(list(kinds), [weight for weight, _ in kinds.values()])
        kinds[name][1]()
        self.done[name] += 1

    def repair(self, *, at_once: bool = False) -> None:
        """Repairs what has been wrong for long enough."""
        now = time.monotonic()
        due = [repair for at, repair in self._repairs if at_once or at <= now]
        self._repairs = [one for one in self._repairs if not at_once and one[0] > now]
        for repair in due:
            repair()
        # As systemd does: a server ends that finds no room at its start.
        for program in self.fleet.every():
            if program.name not in self._down and not program.runs():
                self._start_later(program)

    def _later(self, repair: Callable[[], None]) -> None:
        self._repairs.append((time.monotonic() + self.chance.uniform(0, _LONGEST_S), repair))

    def _agent(self) -> Program:
        return self.chance.choice(self.fleet.agents)

    def _kill_agent(self) -> None:
        self._kill(self._agent())

    def _kill(self, program: Program) -> None:
        program.kill()
        self._start_later(program)

    def _start_later(self, program: Program) -> None:
        if program.name in self._down:
            return

        def start() -> None:
            self._down.discard(program.name)
            program.start()

        self._down.add(program.name)
        self._later(start)

    def _way(self, way: Way) -> None:
        self.fleet.proxy.way = way
        self._later(self._open)

    def _open(self) -> None:
        self.fleet.proxy.way = Way.OPEN
        # An agent whose answer was lost would wait for long.
        self.fleet.proxy.cut()

    def _fill(self, disk: str) -> None:
        self.fleet.room.fill(disk)
        self._later(lambda: self.fleet.room.free(disk))

    def _step(self, program: Program) -> None:
        self.fleet.step_clock(program, self.chance.choice(_STEPS_S))
        self._later(lambda: self.fleet.step_clock(program, 0))

    def _repeat(self) -> None:
        kept = list(self.witness.kept)
        for agent, own, body in self.chance.sample(kept, min(_AT_ONCE, len(kept))):
            api = self.witness.identity(agent, self.fleet.server_port)
            if api is None:
                continue
            try:
                status = api.put_result(own, body)
            except (OSError, http.client.HTTPException):
                # The server does not run now.
                return
            self.repeated += status == 200
            if status not in (200, 201, 429, 503):
                self.refused.append(f"result {own} of agent {agent}: {status}")
