"""Pages of the dashboard with a million results, and the questions of programs."""

from __future__ import annotations

import http.client
import ssl
import time
from urllib.parse import urlencode

from mptcplab.server.contact import Role
from mptcplab.server.secret import new_secret
from mptcplab.server.store import people
from mptcplab.server.store.connection import changing

from .effort import Effort
from .figures import Figure, figure, quantile
from .served.fill import fill
from .served.place import is_postgresql_here, new_state
from .served.running import Server, enrolled, started

_AGENTS = 1_000
_RESULTS = 1_000_000
_DAYS = 60
_MOST_MS = 300
_ASKED = 20
"""Times of each page, for each run."""


def measure(effort: Effort) -> list[Figure]:
    """The time of each page, from its request to its last byte, on SQLite."""
    return _measured(effort, postgresql=False)


def measure_postgresql(effort: Effort) -> list[Figure]:
    """The same on PostgreSQL."""
    return _measured(effort, postgresql=True) if is_postgresql_here() else []


def _measured(effort: Effort, *, postgresql: bool) -> list[Figure]:
    count = effort.sized(_RESULTS, 400)
    with new_state(postgresql=postgresql) as state:
        token = new_secret()
        own = enrolled(state, effort.sized(_AGENTS, 10))
        connection = state.connect()
        now_ms = time.time_ns() // 1_000_000
        with changing(connection):
            people.add(connection, "bench", Role.ADMIN, token, now_ms)
        began = time.monotonic()
        fill(connection, own, count, now_ms, _DAYS)
        filled_s = time.monotonic() - began
        result = connection.execute(
            "SELECT id FROM results WHERE agent = ? ORDER BY number DESC LIMIT 1", (own[1].id,)
        ).fetchone()["id"]
        size = connection.size_bytes()
        connection.close()
        with started(state) as server:
            pages = _pages(own[0].id, own[1].id, result)
            times = _asked(server, token, pages, effort.repeat * effort.sized(_ASKED, 2))
    figures = [
        figure("results that are stored", "", [count]),
        figure("size of the database", "GB", [size / 1e9]),
        figure("a result is stored, without its fsync", "ms", [filled_s / count * 1e3]),
    ]
    for name, taken in times.items():
        figures.append(figure(f"{name}", "ms", taken, high=_MOST_MS))
        figures.append(figure(f"{name}, 95th percentile", "ms", [quantile(taken, 0.95)]))
    return figures


def _pages(busy: str, usual: str, result: str) -> dict[str, str]:
    every = {"agents": "/", "agents, last page": "/?page=5", "plans": "/plans"}
    for name, own in (("an agent", usual), ("an agent with a tenth of all", busy)):
        for days in (1, 7, 30, 365):
            every[f"{name}, {days} days"] = f"/agents/{own}?days={days}"
    every["a result"] = f"/results/{result}"
    every["/api/v1/agents"] = "/api/v1/agents"
    every["/api/v1/agents/ID"] = f"/api/v1/agents/{busy}"
    every["/api/v1/results of an agent"] = f"/api/v1/results?agent={usual}&limit=100"
    every["/api/v1/results of a plan"] = "/api/v1/results?plan=lines&limit=100"
    every["/metrics"] = "/metrics"
    return every


def _asked(server: Server, token: str, pages: dict[str, str], times: int) -> dict[str, list[float]]:
    """Milliseconds of each page, one after the other in turns, on one connection."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=tls)
    headers = {"Authorization": f"Bearer {token}", "Cookie": _signed_in(connection, token)}
    taken: dict[str, list[float]] = {name: [] for name in pages}
    try:
        for _ in range(times):
            for name, path in pages.items():
                began = time.monotonic()
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                answer.read()
                taken[name].append((time.monotonic() - began) * 1e3)
                if answer.status != 200:
                    raise RuntimeError(f"{path}: {answer.status}")
                # An address may make 50 requests a second.
                time.sleep(0.02)
    finally:
        connection.close()
    return taken


def _signed_in(connection: http.client.HTTPSConnection, token: str) -> str:
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
    }
    connection.request("POST", "/sign-in", urlencode({"token": token, "target": "/"}), headers)
    answer = connection.getresponse()
    answer.read()
    cookie = answer.getheader("set-cookie") or ""
    if answer.status != 303 or not cookie:
        raise RuntimeError(f"signing in: {answer.status}")
    return cookie.partition(";")[0]
