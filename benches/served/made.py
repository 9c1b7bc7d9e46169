"""Results of agents behind DSL and LTE, made up by a seed, in the form that the agent sends."""

from __future__ import annotations

import json
import math
import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_SOURCES = ("192.168.1.20", "10.64.3.7")
_INTERFACES = ("dsl0", "wwan0")
_RATES_MBPS = {"down": (16.0, 24.0), "up": (2.4, 8.0)}
"""Of each path, around which those of a day vary."""
_RTTS_US = (24_000, 48_000)
_OPTIONS = ["mss", "sack-permitted", "timestamps", "window-scale", "mp-capable"]
_PINGS = 10
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class Experiment:
    """The transfers of an experiment."""

    sizes: Sequence[int]
    directions: Sequence[str]
    repeat: int


ONE_TRANSFER = Experiment((1_000_000,), ("down",), 1)
"""The least that has all figures."""
AS_IN_THE_GUIDE = Experiment((100_000, 1_000_000), ("down", "up"), 3)
"""That of the plan in docs/howto/agents.md, over two paths."""


def result(
    experiment: Experiment, agent: str, sequence: int, began_ms: int, chance: random.Random
) -> dict[str, Any]:
    """A complete experiment over two paths; rates are lower in the evening."""
    hour = began_ms % _DAY_MS / 3_600_000
    evening = 1 - 0.4 * max(0.0, math.cos((hour - 20) / 24 * 2 * math.pi))
    steps = list(_steps(experiment, evening, chance))
    return {
        "format": 1,
        "id": str(uuid.UUID(bytes=chance.randbytes(16), version=4)),
        "sequence": sequence,
        "agent": agent,
        "plan": "lines@1",
        "seed": sequence,
        "outcome": "complete",
        "reason": None,
        "began_unix_ms": began_ms,
        "took_ms": 20_000,
        "boot": "5a1f8a1e-6f6c-4b8e-9a53-4b3c1d5a2f10",
        "host": {
            "version": "0.1.0",
            "kernel": "6.18.44",
            "processors": 4,
            "load_1m": round(chance.uniform(0, 2), 2),
            "busy": round(chance.uniform(0, 0.5), 3),
            "steal": 0.0,
            "starved": chance.random() < 0.01,
        },
        "target": {"host": "target.example.org", "port": 4420, "rate_limit_bps": None},
        "paths": [
            {"interface": name, "source": source, "device": name, "index": number + 2}
            for number, (name, source) in enumerate(zip(_INTERFACES, _SOURCES, strict=True))
        ],
        "left_out": [],
        "sent_options": _OPTIONS,
        "endpoints": list(_SOURCES),
        "steps": steps,
        "used_bytes": sum(step["size_bytes"] for step in steps),
    }


def _steps(
    experiment: Experiment, evening: float, chance: random.Random
) -> Iterator[dict[str, Any]]:
    every = range(len(_SOURCES))
    for path in every:
        yield _step("survival", 0, [_witness(), _joined(chance)], path=path)
    for repetition in range(experiment.repeat):
        for path in every:
            yield _step("idle", repetition, [_pinged(_RTTS_US[path], chance)], path=path)
        for direction in experiment.directions:
            rates = [rate * evening * chance.uniform(0.8, 1.1) for rate in _RATES_MBPS[direction]]
            for size in experiment.sizes:
                yield from _transfers(repetition, direction, size, rates, chance)


def _transfers(
    repetition: int, direction: str, size: int, rates: Sequence[float], chance: random.Random
) -> Iterator[dict[str, Any]]:
    total = sum(rates)
    for path, rate in enumerate(rates):
        moved = [_moved(size, rate, direction)]
        yield _step("tcp", repetition, moved, direction, size, path)
    mptcp = _moved(size, total * chance.uniform(0.7, 0.95), direction)
    places = [f"{source}:40000" for source in _SOURCES]
    mptcp["probe"]["seen"] = _seen(places, size)
    mptcp["target"]["seen"] = _seen(places, size)
    yield _step("mptcp", repetition, [mptcp], direction, size)
    shares = [_moved(int(size * rate / total), rate, direction, size) for rate in rates]
    yield _step("at-once", repetition, shares, direction, size)


def _step(
    kind: str,
    repetition: int,
    connections: list[dict[str, Any]],
    direction: str | None = None,
    size: int = 0,
    path: int | None = None,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "repetition": repetition,
        "path": path,
        "direction": direction,
        "size_bytes": size,
        "result": {"connections": connections, "moved_bytes": size, "stopped": False},
    }


def _connection(probe: dict[str, Any], target: dict[str, Any], rtts: list[int]) -> dict[str, Any]:
    return {
        "failure": None,
        "connect_us": 24_000,
        "rtts_us": rtts,
        "probe": probe,
        "target": target,
    }


def _end(received: int = 0, sent: int = 0, duration_us: int = 0, moved: int = 0) -> dict[str, Any]:
    # A sample each 100 ms, as ends take them.
    marks = range(100_000, max(duration_us, 1), 100_000)
    return {
        "sent_bytes": sent,
        "received_bytes": received,
        "duration_us": duration_us,
        "moved_by_all_bytes": moved,
        "samples": [[at, received * at // duration_us] for at in marks],
        "failure": None,
        "seen": _seen([], 0),
        "syn": None,
    }


def _seen(places: Sequence[str], size: int) -> dict[str, Any]:
    return {
        "mptcp": bool(places),
        "announced": 0,
        "accepted": 0,
        "subflows_allowed": 2,
        "endpoints": 2,
        "subflows": [
            {
                "local": place,
                "remote": "198.51.100.4:5001",
                "sent_bytes": size // len(places),
                "received_bytes": size // len(places),
            }
            for place in places
        ],
    }


def _moved(size: int, rate_mbps: float, direction: str, moved: int = 0) -> dict[str, Any]:
    duration_us = max(int(size * 8 / rate_mbps), 1)
    received = _end(received=size, duration_us=duration_us, moved=moved or size)
    sent = _end(sent=size)
    return _connection(received, sent, []) if direction == "down" else _upload(received, sent)


def _upload(received: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    return _connection(sent, received, [])


def _witness() -> dict[str, Any]:
    target = _end()
    target["syn"] = {"names": _OPTIONS}
    return _connection(_end(), target, [])


def _joined(chance: random.Random) -> dict[str, Any]:
    places = [f"{source}:40000" for source in _SOURCES]
    probe, target = _end(), _end()
    probe["seen"], target["seen"] = _seen(places, 2), _seen(places, 2)
    return _connection(probe, target, _rtts(_RTTS_US[0], 15, chance))


def _pinged(rtt_us: int, chance: random.Random) -> dict[str, Any]:
    return _connection(_end(), _end(), _rtts(rtt_us, _PINGS, chance))


def _rtts(rtt_us: int, count: int, chance: random.Random) -> list[int]:
    return [int(rtt_us * chance.uniform(1, 1.3)) for _ in range(count)]


def encoded(told: dict[str, Any]) -> bytes:
    """As the agent writes it: without spaces."""
    return json.dumps(told, separators=(",", ":")).encode()
