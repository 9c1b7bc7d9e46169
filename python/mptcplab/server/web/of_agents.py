"""Operations of agents."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from functools import partial

from starlette.responses import Response

from mptcplab.server import intake, result
from mptcplab.server.contact import LARGEST_BYTES, Contact, Enrolment
from mptcplab.server.secret import new_secret
from mptcplab.server.store import agents, enrolments, plans, results
from mptcplab.server.strict_json import parse
from mptcplab.server.web.call import Access, ApiError, Call, Operation, answered

_DIGEST = re.compile(r"(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):")


async def enrol(call: Call) -> Response:
    """Adds the agent."""
    wanted = parse(Enrolment, call.body)
    secret = wanted.own_secret or new_secret()
    now_ms = call.backend.now_ms()
    try:
        agent = await call.backend.change(
            lambda connection: enrolments.enrol(connection, call.secret, wanted, secret, now_ms)
        )
    except enrolments.NotEnrolledError:
        raise ApiError(
            401, "The secret is used up, or the agent is revoked", {"www-authenticate": "Bearer"}
        ) from None
    return answered({"agent": agent, "secret": secret}, 201)


async def agent_plans(call: Call) -> Response:
    """The plans of the agent."""
    tag, told = await call.backend.ask(partial(plans.of_agent, agent=call.agent))
    known = call.request.headers.get("if-none-match", "")
    if tag in (one.strip() for one in known.split(",")):
        return Response(status_code=304, headers={"etag": tag})
    return answered({"plans": told}, etag=tag)


async def put_result(call: Call) -> Response:
    """Keeps the result, and acknowledges it once it is on the disk."""
    _check_digest(call)
    arrival = await call.backend.work(partial(intake.read, call.body))
    if arrival.result.id != call.path("id"):
        raise ApiError(422, "id: another one than that of the path")
    if arrival.result.agent != call.agent:
        raise ApiError(403, "agent: a result of another agent")
    now_ms = call.backend.now_ms()
    try:
        is_new = await call.backend.change(
            lambda connection: results.put(connection, arrival, now_ms)
        )
    except results.OtherContentError:
        raise ApiError(409, "There is another result with this id") from None
    return answered({"sha256": arrival.sha256.hex()}, 201 if is_new else 200)


def _check_digest(call: Call) -> None:
    found = _DIGEST.search(call.request.headers.get("content-digest", ""))
    if found is None:
        raise ApiError(400, "Content-Digest: sha-256=:BASE64: is missing")
    try:
        told = base64.b64decode(found[1], validate=True)
    except binascii.Error:
        told = b""
    if told != hashlib.sha256(call.body).digest():
        raise ApiError(400, "Content-Digest: the body that came has another one")


async def contact(call: Call) -> Response:
    """Keeps the state of the agent."""
    told = parse(Contact, call.body)
    now_ms = call.backend.now_ms()
    await call.backend.change(
        lambda connection: agents.contacted(connection, call.agent, told, now_ms)
    )
    return answered({"now_unix_ms": now_ms})


OPERATIONS = (
    Operation(
        "POST", "/api/v1/enrol", Access.ENROLMENT, enrol,
        "Enrol an agent; the bearer is the secret of an enrolment token",
        {201: "`agent`: its id, `secret`: by which it is known from now on"},
        Enrolment, LARGEST_BYTES,
    ),
    Operation(
        "GET", "/api/v1/agent/plans", Access.AGENT, agent_plans,
        "The plans that the agent is to carry out",
        {200: "`plans`", 304: "`If-None-Match` has their `ETag`"},
    ),
    Operation(
        "PUT", "/api/v1/agent/results/{id}", Access.AGENT, put_result,
        "Keep a result; `Content-Digest` has the SHA-256 of its bytes (RFC 9530)",
        {201: "`sha256` of what is stored", 200: "the same: it was there"},
        result.Result, result.LARGEST_BYTES,
    ),
    Operation(
        "POST", "/api/v1/agent/contact", Access.AGENT, contact,
        "Tell the state of the agent",
        {200: "`now_unix_ms`: the server's clock"},
        Contact, LARGEST_BYTES,
    ),
)  # fmt: skip
