"""Checks of a call before it is answered: protocol, caller, body; in this order."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from mptcplab.server import protocol_version
from mptcplab.server.contact import Role
from mptcplab.server.store import agents, enrolments, people
from mptcplab.server.store.database import Connection
from mptcplab.server.web.call import Access, ApiError, Call, Operation

VERSION_HEADER = "mptcplab-protocol"
BODY_S = 30.0
"""Time for a body to come as a whole, beside that for its bytes."""
LEAST_BODY_BYTES_S = 8_000
"""A client that is at least as fast is never too slow."""
_LONGEST_SECRET = 200


class VersionError(ApiError):
    """A version of the protocol that is not taken."""


def check_version(request: Request, operation: Operation) -> None:
    """Refuses versions of the protocol that are not taken; agents must tell theirs.

    Raises:
        VersionError: it is none of them.

    """
    told = request.headers.get(VERSION_HEADER)
    is_of_agents = operation.access in (Access.AGENT, Access.ENROLMENT)
    if told is None and not is_of_agents:
        return
    if (reason := protocol_version.OURS.refusal(told)) is not None:
        raise VersionError(400, reason)


async def authenticate(call: Call, operation: Operation) -> None:
    """Finds out who calls.

    Raises:
        ApiError: 401 where the secret is none, 403 where its holder may not do this.

    """
    if operation.access is None:
        return
    secret = _secret(call.request)
    now_ms = call.backend.now_ms()

    def find(connection: Connection) -> bool:
        if operation.access == Access.ENROLMENT:
            call.secret = secret
            return enrolments.is_known(connection, secret, now_ms)
        if operation.access == Access.AGENT:
            call.agent = agents.of_secret(connection, secret) or ""
            return bool(call.agent)
        call.person = people.of_secret(connection, secret)
        return call.person is not None

    if not await call.backend.ask_one(find):
        raise _unauthorized("The secret is unknown, used up, expired or revoked")
    if isinstance(operation.access, Role):
        assert call.person is not None
        if not call.person.role.may(operation.access):
            raise ApiError(403, f"This takes the role of {operation.access.value}")


def _secret(request: Request) -> str:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not 0 < len(secret) <= _LONGEST_SECRET:
        raise _unauthorized("Authorization: Bearer SECRET is missing")
    return secret.strip()


def _unauthorized(text: str) -> ApiError:
    return ApiError(401, text, {"www-authenticate": "Bearer"})


async def read_body(request: Request, largest_bytes: int) -> bytes:
    """The body, of which never more than this is held.

    Raises:
        ApiError: 413 where it is larger, 408 where it comes too slowly.

    """
    told = request.headers.get("content-length", "")
    too_large = ApiError(413, f"The body is larger than {largest_bytes} bytes")
    if told.isdigit() and int(told[:20]) > largest_bytes:
        raise too_large
    expected_bytes = int(told) if told.isdigit() else largest_bytes
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_S + expected_bytes / LEAST_BODY_BYTES_S):
            async for part in request.stream():
                size += len(part)
                if size > largest_bytes:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise ApiError(408, "The body came too slowly", {"connection": "close"}) from None
    except ClientDisconnect:
        raise ApiError(400, "The body ended early") from None
    return b"".join(parts)
