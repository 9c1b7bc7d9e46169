"""All operations of the API."""

from __future__ import annotations

import asyncio

from starlette.responses import JSONResponse, Response

from mptcplab.server.contact import Role
from mptcplab.server.web import of_agents, of_people, of_results
from mptcplab.server.web.call import Call, Operation
from mptcplab.server.web.openapi import description
from mptcplab.server.web.prometheus import CONTENT_TYPE, exposition


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
)  # fmt: skip
