"""All operations of the API."""

from __future__ import annotations

import asyncio

from starlette.responses import HTMLResponse, JSONResponse, Response

from mptcplab.server.contact import Role
from mptcplab.server.web import of_agents, of_people, of_results
from mptcplab.server.web.call import Call, Operation
from mptcplab.server.web.openapi import description
from mptcplab.server.web.prometheus import CONTENT_TYPE, exposition

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>mptcplab</title>
<h1>mptcplab server</h1>
<p>It gives agents their plans, and keeps what they measure of Multipath TCP on their paths.
<p>Its API is under <code>/api/v1</code>; whoever has a token finds its description at
<code>/api/v1/openapi.json</code>.
</html>
"""


async def page(_call: Call) -> Response:
    """A page that says what this is."""
    return HTMLResponse(_PAGE)


async def health(call: Call) -> Response:
    """Whether the database answers."""
    await call.backend.ask(lambda connection: connection.execute("SELECT 1").fetchone())
    return JSONResponse({"status": "ok"})


async def get_metrics(call: Call) -> Response:
    """State in numbers, for Prometheus."""
    now_ms = call.backend.now_ms()
    statuses = dict(call.backend.statuses)
    told = await call.backend.ask(lambda connection: exposition(connection, statuses, now_ms))
    return Response(told, media_type=CONTENT_TYPE)


async def get_openapi(_call: Call) -> Response:
    """The description of the API."""
    return JSONResponse(await asyncio.to_thread(description, OPERATIONS))


OPERATIONS: tuple[Operation, ...] = (
    *of_agents.OPERATIONS,
    *of_people.OPERATIONS,
    *of_results.OPERATIONS,
    Operation(
        "GET", "/api/v1/openapi.json", Role.VIEWER, get_openapi,
        "This description", {200: "OpenAPI 3.1"},
    ),
    Operation(
        "GET", "/metrics", Role.VIEWER, get_metrics, "State in numbers, for Prometheus",
        {200: "text"},
    ),
    Operation("GET", "/health", None, health, "Whether it works", {200: "it does"}),
    Operation("GET", "/", None, page, "A page that says what this is", {200: "HTML"}),
)  # fmt: skip
