"""Operations that read results."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import partial
from typing import Any

from starlette.responses import Response

from mptcplab.server import intake
from mptcplab.server.addresses import without_addresses
from mptcplab.server.contact import Role
from mptcplab.server.store import results
from mptcplab.server.summary import summary
from mptcplab.server.web.call import ApiError, Call, Operation, answered

_LARGEST = 2**53


async def get_results(call: Call) -> Response:
    """Results in the order of their arrival."""
    query = call.request.query_params
    since = _number(query.get("since"), "since", 0, _LARGEST, 0)
    limit = _number(query.get("limit"), "limit", 1, results.MOST_LISTED, 100)
    found = await call.backend.ask(
        partial(
            results.listed,
            agent=query.get("agent"),
            plan=query.get("plan"),
            congestion_control=query.get("congestion_control"),
            since=since,
            limit=limit,
        )
    )
    following = found[-1]["number"] if found else since
    return answered({"results": _shown(call, found), "next": following})


async def get_result(call: Call) -> Response:
    """The bytes of a result as they came, but for addresses that are to be left out."""
    body = zlib.decompress(await _content(call))
    if _is_without_addresses(call):
        body = await call.backend.work(partial(_rewritten, body))
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    return Response(
        body,
        media_type="application/json",
        headers={"content-digest": f"sha-256=:{digest}:"},
    )


async def get_summary(call: Call) -> Response:
    """The figures of a result."""
    content = await _content(call)
    told = await call.backend.work(lambda: summary(intake.read_kept(content)[0]))
    return answered(_shown(call, told))


async def _content(call: Call) -> bytes:
    found = await call.backend.ask(partial(results.content, own=call.path("id")))
    if found is None:
        raise ApiError(404, "There is no such result")
    return found


def _rewritten(body: bytes) -> bytes:
    return json.dumps(without_addresses(json.loads(body)), separators=(",", ":")).encode()


def _shown(call: Call, told: Any) -> Any:
    return without_addresses(told) if _is_without_addresses(call) else told


def _is_without_addresses(call: Call) -> bool:
    text = call.request.query_params.get("addresses", "yes")
    if text not in ("yes", "no"):
        raise ApiError(400, "addresses: yes or no")
    return text == "no"


def _number(text: str | None, name: str, least: int, most: int, default: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        raise ApiError(400, f"{name}: a number from {least} to {most}")
    return int(text)


_RESULT = "/api/v1/results"
OPERATIONS = (
    Operation(
        "GET", _RESULT, Role.VIEWER, get_results,
        "Results in the order of their arrival; `since` is the `next` of the answer before",
        {200: "`results`, `next`"},
        query=("agent", "plan", "congestion_control", "since", "limit", "addresses"),
    ),
    Operation(
        "GET", f"{_RESULT}/{{id}}", Role.VIEWER, get_result,
        "The exact bytes of a result, with their `Content-Digest`; with `addresses=no` they have "
        "numbers in the place of addresses",
        {200: "the result"}, query=("addresses",),
    ),
    Operation(
        "GET", f"{_RESULT}/{{id}}/summary", Role.VIEWER, get_summary,
        "The figures of a result, as `mptcplab probe --json` prints them", {200: "the figures"},
        query=("addresses",),
    ),
)  # fmt: skip
