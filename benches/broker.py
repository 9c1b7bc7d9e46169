"""How fast the broker is, by `crates/broker/benches/orders`.

It serves another user where this is root, and an ordinary user in namespaces of his own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from pathlib import Path
from typing import Any

from .figures import Figure, figure

_ROOT = Path(__file__).parents[1]
_ROUND_TRIP_MS = 10
_WAYS = {"user": "an ordinary user", "namespace": "without root"}


def measure(repeat: int, seconds: float) -> list[Figure]:
    """Orders a second with a thousand connections, and the time to open a subflow."""
    figures: list[Figure] = []
    for way, called in _WAYS.items():
        if way == "user" and os.geteuid() != 0:
            continue
        rows = [_run(way, seconds) for _ in range(repeat)]
        one = [row["one_client_per_s"] for row in rows]
        every = [row["all_clients_per_s"] for row in rows]
        opened = [row["open_close_per_s"] for row in rows]
        figures += [
            figure(f"{called}: orders a second, one client", "", one, low=2000),
            figure(f"{called}: orders a second, {rows[0]['clients']} clients", "", every, low=2000),
            figure(f"{called}: orders to open and close a second", "", opened, low=2000),
            *_times(f"{called}: opening a subflow", rows, "open_ms", _ROUND_TRIP_MS + 2),
            *_times(f"{called}: connect of TCP beside it", rows, "connect_ms", None),
        ]
    return figures


def _times(name: str, rows: list[dict[str, Any]], key: str, high: float | None) -> list[Figure]:
    medians = [statistics.median(row[key]) for row in rows]
    tails = [statistics.quantiles(row[key], n=100)[98] for row in rows]
    return [
        figure(f"{name}, median", "ms", medians, high=high),
        figure(f"{name}, 99th percentile", "ms", tails),
    ]


def _run(way: str, seconds: float) -> dict[str, Any]:
    command = [
        "cargo",
        "bench",
        "--quiet",
        "--locked",
        "-p",
        "mptcplab-broker",
        "--bench",
        "orders",
    ]
    output = subprocess.run(
        [*command, "--", way, str(seconds)],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    row: dict[str, Any] = json.loads(output)
    return row
