"""Rows as a run tells them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mptcplab.live.progress import Session
from mptcplab.live.server import Server

SECOND = 1_000_000_000
BYTES_OF_A_MEGABIT = 125_000


def sample(t_s: float, interface: str, rx: int, node: str = "client") -> dict[str, Any]:
    return {
        "record": "interface_samples",
        "t_ns": round(t_s * SECOND),
        "node": node,
        "interface": interface,
        "rx_bytes": rx,
        "tx_bytes": 0,
    }


def begun(nodes: Sequence[str] = ("client",), ways: Sequence[str] = ("down",)) -> dict[str, Any]:
    return {"record": "begun", "nodes": list(nodes), "ways": list(ways), "gap_ns": 0}


def subflow(t_s: float, name: str, interface: str, **more: Any) -> dict[str, Any]:
    return {
        "record": "subflow_samples",
        "t_ns": round(t_s * SECOND),
        "node": "client",
        "interface": interface,
        "subflow": name,
        "state": "ESTABLISHED",
        "backup": False,
        "rtt_us": 12_300,
        "cwnd": 10,
    } | more


def event(t_s: float, kind: str, subject: str, label: str) -> dict[str, Any]:
    told = {"kind": kind, "subject": subject, "label": label}
    return {"record": "events", "t_ns": round(t_s * SECOND), **told}


def steady(until_s: float, **mbps: float) -> list[dict[str, Any]]:
    """Samples every 100 ms of interfaces that carry so much."""
    return [
        sample(step / 10, name, round(rate * BYTES_OF_A_MEGABIT * step / 10))
        for step in range(round(until_s * 10) + 1)
        for name, rate in mbps.items()
    ]


def session(until_s: float = 4.0) -> Session:
    """A session in its first run, whose link was set down once."""
    made = Session()
    made.begin(2)
    made.folders.append("out/x")
    made.begun(0, "lisbon/A1 mptcp 1 (1/2)", 10.0)
    made.reached(0, until_s)
    rows = [begun(), *steady(until_s, wifi=20.0, eth=80.0)]
    rows += [subflow(until_s, "a", "wifi"), subflow(until_s, "b", "eth", backup=True)]
    made.watched(0, [*rows, event(1.0, "link", "wifi", "wifi <b>down</b>")])
    made.show(until_s / 10)
    return made


@contextmanager
def serving() -> Iterator[Server]:
    """A server of that session, which ends without waiting for a page that asked."""
    made = Server(session(), "127.0.0.1", 0)
    yield made
    made.asked_s = float("-inf")
    made.end()
