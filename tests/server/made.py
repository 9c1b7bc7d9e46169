"""Results as agents send them, made up, and other bodies of the API."""

from __future__ import annotations

import json
import uuid
from typing import Any

from tests.measure.results import (
    connection,
    ended,
    of_fast_open,
    of_payload,
    of_survival,
    result,
    seen,
    seen_by_target,
)

from mptcplab.measure.plan import COMPARED_BYTES

AGENT = "0123456789abcdef"
SOURCES = ("10.0.1.1", "10.0.2.1")
PLAN: dict[str, Any] = {
    "target": {"host": "t.example.org", "port": 4420, "token": "mptcplab1-AAAA"},
    "sizes_bytes": [1_000_000],
    "directions": ["down"],
    "repeat": 1,
    "schedule": {"every_s": 60},
    "budget_bytes": 50_000_000,
    "daily_bytes": 100_000_000,
}
CONTACT: dict[str, Any] = {
    "version": "0.1.0",
    "kernel": "6.18.44",
    "next_sequence": 0,
    "spooled": 0,
    "spooled_bytes": 0,
    "dropped": {"size": 0, "age": 0},
    "quarantined": [],
    "state": "idle",
    "problem": None,
    "paths": [{"interface": "wifi", "source": "10.0.1.1"}],
}
ENROLMENT = {"name": "car-7", "version": "0.1.0", "kernel": "6.18.44"}


def encoded(value: Any) -> bytes:
    """As the body of a request."""
    return json.dumps(value).encode()


def new_id() -> str:
    return str(uuid.uuid4())


def made_result(**changed: Any) -> dict[str, Any]:
    """A complete experiment over two paths; other values for some keys."""
    told: dict[str, Any] = {
        "format": 1,
        "id": new_id(),
        "sequence": 0,
        "agent": AGENT,
        "plan": "lines@1",
        "seed": 1,
        "outcome": "complete",
        "reason": None,
        "began_unix_ms": 1_800_000_000_000,
        "took_ms": 12_000,
        "boot": "5a1f8a1e-6f6c-4b8e-9a53-4b3c1d5a2f10",
        "host": {
            "version": "0.1.0",
            "kernel": "6.18.44",
            "processors": 2,
            "load_1m": 0.3,
            "busy": 0.2,
            "steal": 0.0,
            "starved": False,
        },
        "target": {"host": "t.example.org", "port": 4420, "rate_limit_bps": None},
        "paths": [
            {"interface": name, "source": source, "device": None, "index": number}
            for number, (name, source) in enumerate(zip(("wifi", "lte"), SOURCES, strict=True))
        ],
        "left_out": [],
        "sent_options": ["mss", "sack-permitted", "timestamps", "window-scale", "mp-capable"],
        "settings": {
            end: {"checksum_enabled": True, "tcp_fastopen": 3, "mptcp_fast_open": True}
            for end in ("probe", "target")
        },
        "endpoints": list(SOURCES),
        "steps": steps(),
        "used_bytes": 4_000_000,
    }
    return told | changed


def empty_result(outcome: str, **changed: Any) -> dict[str, Any]:
    """An experiment that was not carried out."""
    return (
        made_result(
            outcome=outcome, reason="The target is not reached", paths=[], steps=[], endpoints=None
        )
        | changed
    )


def steps(size: int = 1_000_000) -> list[dict[str, Any]]:
    """All kinds of steps: 8 and 4 Mbit/s alone, 10 by MPTCP, 12 at once."""
    every = ("mss", "sack-permitted", "timestamps", "window-scale", "mp-capable")
    places = [f"{source}:40000" for source in SOURCES]
    return [
        *(step("survival", of_survival(every, *places), path=path) for path in range(2)),
        *(
            step("payload", of_payload(0, 0, COMPARED_BYTES, *places, checksum=True), path=path)
            for path in range(2)
        ),
        *(
            step("fast-open", of_fast_open(acked=True, connections=count), path=path)
            | {"repetition": look}
            for look, count in enumerate((1, 3))
            for path in range(2)
        ),
        *(step("idle", _echoes(10_000 * (path + 1)), path=path) for path in range(2)),
        *(step("tcp", _transfer(size, seconds), "down", size, path)
          for path, seconds in enumerate((1.0, 2.0))),
        step("mptcp", _by_mptcp(size, 0.8, *places), "down", size),
        step("at-once", result(*(
            connection(ended(size * part // 3, 666_667, size), ended(sent=size))
            for part in (2, 1)
        )), "down", size),
        step("loaded", result(
            connection(ended(2_000_000, 2_000_000), ended()),
            connection(ended(), ended(), (30_000,)),
        ), "down", 2_000_000, 0),
    ]  # fmt: skip


def step(
    kind: str,
    measured: dict[str, Any],
    direction: str | None = None,
    size_bytes: int = 0,
    path: int | None = None,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "repetition": 0,
        "path": path,
        "direction": direction,
        "size_bytes": size_bytes,
        "result": measured,
    }


def _echoes(rtt_us: int) -> dict[str, Any]:
    return result(connection(ended(), ended(), (rtt_us,) * 10))


def _transfer(size: int, seconds: float) -> dict[str, Any]:
    return result(connection(ended(size, int(seconds * 1e6)), ended(sent=size)))


def _by_mptcp(size: int, seconds: float, *places: str) -> dict[str, Any]:
    probe, target = ended(size, int(seconds * 1e6)), ended(sent=size)
    probe["seen"] = seen(*places, mptcp=True, endpoints=2)
    target["seen"] = seen_by_target(*places)
    return result(connection(probe, target))
