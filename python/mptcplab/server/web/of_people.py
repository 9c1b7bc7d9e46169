"""Operations of people and programs on agents, plans, enrolments and tokens."""

from __future__ import annotations

import copy
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from mptcplab.server.contact import LARGEST_BYTES, NewEnrolment, NewToken, Role
from mptcplab.server.fields import Name
from mptcplab.server.plan import LARGEST_BYTES as LARGEST_PLAN_BYTES
from mptcplab.server.plan import Plan
from mptcplab.server.secret import EnrolmentLine, new_secret
from mptcplab.server.store import agents, enrolments, people, plans
from mptcplab.server.strict_json import parse
from mptcplab.server.web.call import ApiError, Call, Operation, answered

_NAME: TypeAdapter[str] = TypeAdapter(Name)


async def get_agents(call: Call) -> Response:
    """All agents."""
    return answered({"agents": await call.backend.ask(agents.listed)})


async def get_agent(call: Call) -> Response:
    """One agent."""
    return answered(await _found(call, "agent", agents.one))


async def revoke_agent(call: Call) -> Response:
    """Takes the secret of an agent no more."""
    return await _gone(call, "agent", agents.revoke)


async def get_plans(call: Call) -> Response:
    """All plans."""
    every = await call.backend.ask(plans.listed)
    return answered({"plans": [_shown(call, one) for one in every]})


async def get_plan(call: Call) -> Response:
    """One plan."""
    return answered(_shown(call, await _found(call, "plan", plans.one)))


async def put_plan(call: Call) -> Response:
    """Adds or changes a plan."""
    name = call.path("id")
    try:
        _NAME.validate_python(name)
    except ValidationError:
        raise ApiError(422, 'A plan\'s name has up to 40 of a-z, 0-9, "-" and "_"') from None
    plan = parse(Plan, call.body)
    now_ms = call.backend.now_ms()
    own, is_changed = await call.backend.change(
        lambda connection: plans.put(connection, name, plan, now_ms)
    )
    return answered({"id": own}, 201 if is_changed else 200)


async def remove_plan(call: Call) -> Response:
    """Lets no agent carry it out any more."""
    return await _gone(call, "plan", plans.remove)


async def get_enrolments(call: Call) -> Response:
    """All enrolment tokens, without their secrets."""
    return answered({"enrolments": await call.backend.ask(enrolments.listed)})


async def add_enrolment(call: Call) -> Response:
    """Makes an enrolment token."""
    wanted = parse(NewEnrolment, call.body)
    secret = new_secret()
    now_ms = call.backend.now_ms()
    expires_ms = now_ms + wanted.expires_s * 1_000
    own = await call.backend.change(
        lambda connection: enrolments.add(connection, secret, wanted.agents, expires_ms, now_ms)
    )
    line = EnrolmentLine(call.backend.url, call.backend.fingerprint, secret).text()
    return answered({"id": own, "token": line, "expires_ms": expires_ms}, 201)


async def revoke_enrolment(call: Call) -> Response:
    """Enrols no more agents by it."""
    return await _gone(call, "enrolment token", enrolments.revoke)


async def get_tokens(call: Call) -> Response:
    """All tokens of people, without their secrets."""
    return answered({"tokens": await call.backend.ask(people.listed)})


async def add_token(call: Call) -> Response:
    """Makes a token of a person."""
    wanted = parse(NewToken, call.body)
    secret = new_secret()
    now_ms = call.backend.now_ms()
    own = await call.backend.change(
        lambda connection: people.add(connection, wanted.name, wanted.role, secret, now_ms)
    )
    return answered({"id": own, "secret": secret}, 201)


async def revoke_token(call: Call) -> Response:
    """Takes a person's token no more."""
    return await _gone(call, "token", people.revoke)


async def _found(call: Call, kind: str, find: Any) -> dict[str, Any]:
    found: dict[str, Any] | None = await call.backend.ask(
        lambda connection: find(connection, call.path("id"))
    )
    if found is None:
        raise ApiError(404, f"There is no such {kind}")
    return found


async def _gone(call: Call, kind: str, change: Any) -> Response:
    now_ms = call.backend.now_ms()
    if not await call.backend.change(
        lambda connection: change(connection, call.path("id"), now_ms)
    ):
        raise ApiError(404, f"There is no such {kind}")
    return Response(status_code=204)


def _shown(call: Call, plan: dict[str, Any]) -> dict[str, Any]:
    """The plan; its target's token for those alone who may change it."""
    assert call.person is not None
    if call.person.role.may(Role.OPERATOR):
        return plan
    shown = copy.deepcopy(plan)
    shown["plan"]["target"]["token"] = None
    return shown


_AGENT, _PLAN = "/api/v1/agents", "/api/v1/plans"
_ENROLMENT, _TOKEN = "/api/v1/enrolments", "/api/v1/tokens"
_DONE = {204: "it is done"}
OPERATIONS = (
    Operation("GET", _AGENT, Role.VIEWER, get_agents, "All agents", {200: "`agents`"}),
    Operation(
        "GET", f"{_AGENT}/{{id}}", Role.VIEWER, get_agent,
        "One agent, with the ranges of results that are not here", {200: "the agent"},
    ),
    Operation(
        "DELETE", f"{_AGENT}/{{id}}", Role.OPERATOR, revoke_agent,
        "Revoke an agent; its results stay", _DONE,
    ),
    Operation(
        "GET", _PLAN, Role.VIEWER, get_plans,
        "All plans; the tokens of targets for operators alone", {200: "`plans`"},
    ),
    Operation("GET", f"{_PLAN}/{{id}}", Role.VIEWER, get_plan, "One plan", {200: "the plan"}),
    Operation(
        "PUT", f"{_PLAN}/{{id}}", Role.OPERATOR, put_plan, "Add or change a plan",
        {201: "`id` of the new version", 200: "the same: nothing has changed"},
        Plan, LARGEST_PLAN_BYTES,
    ),
    Operation(
        "DELETE", f"{_PLAN}/{{id}}", Role.OPERATOR, remove_plan,
        "Remove a plan; its results stay", _DONE,
    ),
    Operation(
        "GET", _ENROLMENT, Role.OPERATOR, get_enrolments, "All enrolment tokens",
        {200: "`enrolments`"},
    ),
    Operation(
        "POST", _ENROLMENT, Role.OPERATOR, add_enrolment, "Make an enrolment token",
        {201: "`token`: the line for `mptcplab-host agent --enrol`"}, NewEnrolment, LARGEST_BYTES,
    ),
    Operation(
        "DELETE", f"{_ENROLMENT}/{{id}}", Role.OPERATOR, revoke_enrolment,
        "Revoke an enrolment token; its agents stay", _DONE,
    ),
    Operation(
        "GET", _TOKEN, Role.ADMIN, get_tokens, "All tokens of people and programs",
        {200: "`tokens`"},
    ),
    Operation(
        "POST", _TOKEN, Role.ADMIN, add_token, "Make a token of a person or program",
        {201: "`secret`: the bearer"}, NewToken, LARGEST_BYTES,
    ),
    Operation(
        "DELETE", f"{_TOKEN}/{{id}}", Role.ADMIN, revoke_token, "Revoke a token", _DONE,
    ),
)  # fmt: skip
