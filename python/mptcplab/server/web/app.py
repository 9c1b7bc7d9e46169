"""The application: routes, and what holds for all of them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mptcplab.server import protocol_version
from mptcplab.server.pages import routes as pages
from mptcplab.server.store.database import StoreUnavailableError
from mptcplab.server.strict_json import BodyError
from mptcplab.server.web.alerting import Alerting, alert_always
from mptcplab.server.web.call import Access, ApiError, Backend, Call, Operation
from mptcplab.server.web.checks import (
    VersionError,
    authenticate,
    check_version,
    read_body,
)
from mptcplab.server.web.operations import OPERATIONS
from mptcplab.server.web.pruning import prune_always
from mptcplab.server.web.rate import Rates, network

MOST_UPLOADS = 4
"""Results that an agent sends at once."""
_RETRY_S = "5"
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


def application(
    backend: Backend,
    per_address: float,
    keep_s: int | None = None,
    alerting: Alerting | None = None,
) -> ASGIApp:
    """The application; an address may make so many requests a second.

    Results that arrived more than `keep_s` ago are forgotten.
    """
    routes = [Route(one.path, _endpoint(backend, one), methods=[one.method]) for one in OPERATIONS]
    routes += pages.routes(backend)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> Any:
        tasks = []
        if keep_s is not None:
            tasks.append(asyncio.create_task(prune_always(backend, keep_s)))
        if alerting is not None:
            tasks.append(asyncio.create_task(alert_always(backend, alerting)))
        yield
        for task in tasks:
            task.cancel()
        backend.close()

    inner = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            ApiError: _api_error,
            BodyError: _body_error,
            HTTPException: _http_error,
            StoreUnavailableError: _unavailable,
            sqlite3.OperationalError: _unavailable,
            500: _failure,
        },
    )
    # `/api/v1/plans/` is none of the paths, and not another name of one.
    inner.router.redirect_slashes = False
    return _Guard(inner, backend, Rates(per_address))


def _endpoint(backend: Backend, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        check_version(request, operation)
        call = Call(backend, request)
        await authenticate(call, operation)
        if operation.body is None:
            return await operation.answer(call)
        return await _with_body(call, operation)

    return endpoint


async def _with_body(call: Call, operation: Operation) -> Response:
    if operation.access != Access.AGENT:
        call.body = await read_body(call.request, operation.largest_bytes)
        return await operation.answer(call)
    # Bodies in memory are bounded for each agent.
    uploads = call.backend.uploads
    if uploads[call.agent] >= MOST_UPLOADS:
        raise ApiError(429, "Too many requests at once", {"retry-after": "1"})
    uploads[call.agent] += 1
    try:
        call.body = await read_body(call.request, operation.largest_bytes)
        return await operation.answer(call)
    finally:
        uploads[call.agent] -= 1
        if not uploads[call.agent]:
            del uploads[call.agent]


class _Guard:
    """Limits requests by address, adds headers to all answers and counts them."""

    def __init__(self, inner: ASGIApp, backend: Backend, rates: Rates) -> None:
        self._inner = inner
        self._backend = backend
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._backend.statuses[message["status"]] += 1
                own = {name for name, _ in message["headers"]}
                added = [(name, text) for name, text in _HEADERS if name not in own]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        address = (scope.get("client") or ("", 0))[0]
        if self._rates.take(network(address)):
            await self._inner(scope, receive, send_guarded)
        else:
            error = ApiError(429, "Too many requests from this address", {"retry-after": "1"})
            await _json_error(error.status, str(error), error.headers)(scope, receive, send_guarded)


def _json_error(
    status: int, text: str, headers: dict[str, str] | None = None, **more: Any
) -> Response:
    return JSONResponse({"error": text, **more}, status, headers)


async def _api_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    more = (
        {"versions": list(protocol_version.OURS.taken)} if isinstance(error, VersionError) else {}
    )
    return _json_error(error.status, str(error), error.headers, **more)


async def _body_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, BodyError)
    return _json_error(error.status, str(error))


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {404: "There is no such path", 405: "This path does not take this method"}
    text = texts.get(error.status_code, error.detail)
    return _json_error(error.status_code, text, dict(error.headers or {}))


async def _unavailable(_request: Request, _error: Exception) -> Response:
    return _json_error(503, "The database takes nothing now", {"retry-after": _RETRY_S})


async def _failure(_request: Request, _error: Exception) -> Response:
    return _json_error(500, "The server has failed; its own output says how")
