"""The experiments of a probe, their order, and the data that they use at most."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

OPENING_BYTES = 38
"""Of each connection: its authorisation, and the target's consent."""
ECHO_BYTES = 32
"""Of each message that is echoed, both ways."""
LONGEST_MS = 20_000
"""Of a transfer; what has not come by then does not come."""
IDLE_ECHOES = 10
LOADED_ECHOES = 200
"""At most, while a transfer lasts."""
LOADED_MS = 2_000
"""Of a transfer that is there to load a path."""
MOST_LOAD = 25_000_000
"""Data of it at most."""
MOST_PATHS = 8
"""An experiment has no more connections."""
SURVIVAL_ECHOES = 15
FAST_OPEN_ECHOES = 1
COMPARED_BYTES = 10_000
"""Payload that both ends compare, each way."""
ECHO_INTERVAL_MS = 20
SURVIVAL_INTERVAL_MS = 60
"""So that there is time for subflows to be opened."""
LONG_INTERVAL_MS = 220
"""The same where a lost SYN is to be sent again: 3.3 s in all."""
LEAST_SIZE = 30_000
_FAST_OPEN_LOOKS = 3
"""For a cookie, with data, and again where that failed."""
_SERIES = (1, 3)
"""Digits of the sizes that are chosen."""
_CONTROL_BYTES = 4_000
"""Of the control channel, for each experiment."""
_REPORT_BYTES = 1_300
"""Of the target's report, for each connection."""
_SAMPLES_BYTES = 18 * 10 * (LONGEST_MS // 1_000 + 15)
"""Of it for samples of a transfer; there are ten a second."""


class Kind(StrEnum):
    """Purpose of an experiment."""

    SURVIVAL = "survival"
    """Options of the SYN, and MPTCP, on a path."""
    PAYLOAD = "payload"
    """Payload as it was sent, and checksums of MPTCP, on a path."""
    FAST_OPEN = "fast-open"
    """Data in the SYN, of TCP and of MPTCP, on a path."""
    IDLE = "idle"
    """Round-trip time of a path that carries nothing."""
    LOADED = "loaded"
    """The same while TCP downloads over it for a while."""
    TCP = "tcp"
    """A transfer over one path."""
    MPTCP = "mptcp"
    """The same by MPTCP over all paths."""
    AT_ONCE = "at-once"
    """The same by TCP over all paths at once."""


LOOKS = (Kind.SURVIVAL, Kind.PAYLOAD, Kind.FAST_OPEN)
"""They tell what passes on a path, which is worth to be known also without MPTCP."""


class Direction(StrEnum):
    """Where data go."""

    DOWN = "down"
    UP = "up"


@dataclass(frozen=True)
class Path:
    """A local address that reaches the target."""

    interface: str
    source: str
    device: str | None
    """The interface to bind to: routes of packets from the address lead to another one."""
    index: int
    """Number of the interface."""


@dataclass(frozen=True)
class Step:
    """An experiment."""

    kind: Kind
    repetition: int = 0
    """Of survival and of data in the SYN the look; the first one at the latter gets a cookie."""
    path: int | None = None
    """Number of the path; null where all are used."""
    direction: Direction | None = None
    size_bytes: int = 0
    begin: int | None = None
    """Of one that was carried out by MPTCP over all paths: number of the path on which it began."""

    @property
    def interval_ms(self) -> int:
        """Time between two messages that are echoed."""
        if self.kind is not Kind.SURVIVAL:
            return ECHO_INTERVAL_MS
        return LONG_INTERVAL_MS if self.repetition else SURVIVAL_INTERVAL_MS

    def most_bytes(self, paths: int) -> int:
        """The data that it moves at most, with those of the control channel."""
        connections = paths if self.kind is Kind.AT_ONCE else 1
        echoes = 0
        compared = 2 * COMPARED_BYTES if self.kind is Kind.PAYLOAD else 0
        if self.kind is Kind.IDLE:
            echoes = IDLE_ECHOES
        elif self.kind is Kind.SURVIVAL:
            connections, echoes = 2, SURVIVAL_ECHOES + 1
        elif self.kind is Kind.FAST_OPEN:
            connections = 3 if self.repetition else 1
            echoes = connections * FAST_OPEN_ECHOES
        elif self.kind is Kind.LOADED:
            connections, echoes = 2, LOADED_ECHOES
        report = connections * _REPORT_BYTES
        if self.size_bytes:
            report += connections * _SAMPLES_BYTES
        payload = self.size_bytes + compared + connections * OPENING_BYTES + echoes * ECHO_BYTES
        return payload + _CONTROL_BYTES + report

    def request(self, paths: Sequence[Path], target: str) -> dict[str, Any]:
        """The plan for the extension."""

        def one(path: int, protocol: str, role: object, **more: Any) -> dict[str, Any]:
            return {
                "source": paths[path].source,
                "device": paths[path].device,
                "target": target,
                "protocol": protocol,
                "role": role,
                "interval_ms": self.interval_ms,
                "witness": False,
                "fast_open": False,
            } | more

        role = "send" if self.direction is Direction.DOWN else "receive"
        number = (self.begin or 0) if self.path is None else self.path
        match self.kind:
            case Kind.SURVIVAL:
                echo = {"echo": SURVIVAL_ECHOES}
                connections = [
                    one(number, "mptcp", {"echo": 1}, witness=True),
                    one(number, "mptcp", echo),
                ]
            case Kind.PAYLOAD:
                connections = [one(number, "mptcp", {"compare": COMPARED_BYTES})]
            case Kind.FAST_OPEN:
                echo = {"echo": FAST_OPEN_ECHOES}
                connections = [
                    one(number, "tcp", echo, witness=True, fast_open=True),
                    one(number, "mptcp", echo, witness=True, fast_open=True),
                    one(number, "mptcp", echo, fast_open=True),
                ]
                if not self.repetition:
                    # A SYN that asks for a cookie has no room for it beside MPTCP in the answer.
                    del connections[1:]
            case Kind.IDLE:
                connections = [one(number, "tcp", {"echo": IDLE_ECHOES})]
            case Kind.AT_ONCE:
                connections = [one(path, "tcp", role) for path in range(len(paths))]
            case Kind.LOADED:
                echo = {"echo": LOADED_ECHOES}
                connections = [one(number, "tcp", role), one(number, "tcp", echo)]
            case Kind.TCP | Kind.MPTCP:
                connections = [one(number, self.kind.value, role)]
        return {
            "bytes": self.size_bytes,
            "longest_ms": LOADED_MS if self.kind is Kind.LOADED else LONGEST_MS,
            "congestion_control": None,
            "connections": connections,
        }


def first_path(capable: Sequence[int], repetition: int, seed: int) -> int:
    """The path on which MPTCP over all paths begins in a repetition.

    Those on which it survives (`capable`) take turns, and the seed says which one is first. The
    first path of all where it survives on none.
    """
    return capable[(seed + repetition) % len(capable)] if capable else 0


def steps(
    paths: int, sizes: Sequence[int], repeat: int, seed: int, *, fast_open: bool = True
) -> list[Step]:
    """All experiments: first what passes, then each repetition in an order of chance.

    Data in SYNs are tried where both ends' settings allow it, which is `fast_open`. The second
    experiment of survival on a path is for what the first ones leave open, and the last one of data
    in the SYN for one that failed, perhaps by chance.
    """
    order = random.Random(seed)
    looks = {
        Kind.SURVIVAL: 2 if paths > 1 else 1,
        Kind.PAYLOAD: 1,
        Kind.FAST_OPEN: _FAST_OPEN_LOOKS if fast_open else 0,
    }
    planned = [
        Step(kind, look, path)
        for kind, count in looks.items()
        for look in range(count)
        for path in range(paths)
    ]
    for repetition in range(repeat):
        one = list(_repetition(paths, sizes, repetition))
        order.shuffle(one)
        planned += one
    return planned


def _repetition(paths: int, sizes: Sequence[int], repetition: int) -> Iterator[Step]:
    for path in range(paths):
        yield Step(Kind.IDLE, repetition, path)
    for direction in Direction:
        for size in sizes:
            for path in range(paths):
                yield Step(Kind.TCP, repetition, path, direction, size)
            yield Step(Kind.MPTCP, repetition, None, direction, size)
            if paths > 1:
                yield Step(Kind.AT_ONCE, repetition, None, direction, size)


def loads(paths: int, left_bytes: int) -> list[Step]:
    """One that loads each path, with what the budget leaves; none where that is too little."""
    empty = [Step(Kind.LOADED, 0, path, Direction.DOWN, 0) for path in range(paths)]
    size = min((left_bytes - most_bytes(empty, paths)) // paths - 2 * _SAMPLES_BYTES, MOST_LOAD)
    return [replace(step, size_bytes=size) for step in empty] if size >= LEAST_SIZE else []


def most_bytes(planned: Sequence[Step], paths: int) -> int:
    """The data that all of them move at most."""
    return sum(step.most_bytes(paths) for step in planned)


def choose_sizes(
    budget_bytes: int, paths: int, repeat: int, *, fast_open: bool = True
) -> tuple[int, ...]:
    """Sizes ten times apart, the largest of 30 kB, 100 kB, 300 kB, … that the budget allows.

    A tenth of it is for loads. None where it does not allow the smallest.
    """
    budget_bytes -= budget_bytes // 10
    chosen: tuple[int, ...] = ()
    for largest in _sizes():
        sizes = tuple(size for size in (largest // 100, largest // 10, largest) if size >= 10_000)
        planned = steps(paths, sizes, repeat, 0, fast_open=fast_open)
        if most_bytes(planned, paths) > budget_bytes:
            return chosen
        chosen = sizes
    return chosen


def _sizes() -> Iterator[int]:
    """30 kB to 1 GB."""
    for exponent in range(4, 10):
        for digit in _SERIES:
            if LEAST_SIZE <= digit * 10**exponent <= 10**9:
                yield digit * 10**exponent
