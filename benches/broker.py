"""How fast the broker is, by `crates/host/broker/benches/commands`.

It serves another user where this is root, and an ordinary user in namespaces of his own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from .effort import Effort
from .figures import Figure, figure

_ROOT = Path(__file__).parents[1]
_ROUND_TRIP_MS = 10
_TUN = Path("/dev/net/tun")
_WAYS = {"user": "an ordinary user", "namespace": "without root"}


def measure(effort: Effort) -> list[Figure]:
    """Commands a second with a thousand connections, and the time to open a subflow."""
    figures: list[Figure] = []
    for way, called in _WAYS.items():
        if way == "user" and os.geteuid() != 0:
            continue
        if way == "namespace" and not _ordinary_users_have_tun():
            print(f"{called}: left out: ordinary users may not open {_TUN}", file=sys.stderr)
            continue
        rows = [_run(way, effort.seconds) for _ in range(effort.repeat)]
        one = [row["one_client_per_s"] for row in rows]
        every = [row["all_clients_per_s"] for row in rows]
        opened = [row["open_close_per_s"] for row in rows]
        figures += [
            figure(f"{called}: commands a second, one client", "", one, low=2000),
            figure(
                f"{called}: commands a second, {rows[0]['clients']} clients", "", every, low=2000
            ),
            figure(f"{called}: commands to open and close a second", "", opened, low=2000),
            *_times(f"{called}: opening a subflow", rows, "open_ms", _ROUND_TRIP_MS + 2),
            *_times(f"{called}: connect of TCP beside it", rows, "connect_ms", None),
        ]
    return figures


def _ordinary_users_have_tun() -> bool:
    """Whether the path with a round trip, which is made of TUN devices, can be had without root."""
    if os.geteuid() != 0:
        return os.access(_TUN, os.R_OK | os.W_OK)
    return _TUN.exists() and _TUN.stat().st_mode & 0o006 == 0o006


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
        "--workspace",
        "--bench",
        "commands",
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
