"""The pages by their paths."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mptcplab.measure.html import shown
from mptcplab.measure.render import Why
from mptcplab.measure.words import size_words
from mptcplab.server import intake
from mptcplab.server.pages import courses
from mptcplab.server.pages.fleet import agent_row, states
from mptcplab.server.pages.plans import plan_rows
from mptcplab.server.pages.rendering import answered, asset
from mptcplab.server.pages.signing import Signing
from mptcplab.server.pages.words import moment, period
from mptcplab.server.store import agents, explanations, results, views
from mptcplab.server.store.people import Person
from mptcplab.server.web.call import Backend

MOST_AGENTS = 200
"""On one page."""
MOST_RESULTS = 25
PERIODS = {1: "1 day", 7: "7 days", 30: "30 days", 365: "1 year"}
"""Days that charts show."""
SYSTEMS = "the systems'"
"""The congestion control where a plan names none."""
_DAY_MS = 86_400_000
Page = Callable[[Backend, Request, Person], Awaitable[Response]]


def routes(backend: Backend) -> list[Route]:
    """All pages, for people who are signed in; the others find a form to sign in."""
    signing = Signing(backend)
    pages: dict[str, Page] = {
        "/": fleet,
        "/agents/{id}": agent,
        "/results/{id}": result,
        "/plans": plans,
    }
    return [
        *(Route(path, _guarded(backend, signing, page)) for path, page in pages.items()),
        Route("/sign-in", signing.begin, methods=["POST"]),
        Route("/sign-out", signing.end, methods=["POST"]),
        Route("/assets/{name}", _asset),
    ]


def _guarded(
    backend: Backend, signing: Signing, page: Page
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        person = await signing.person(request)
        if person is None:
            return signing.form(request)
        return await page(backend, request, person)

    return endpoint


async def _asset(request: Request) -> Response:
    return asset(request.path_params["name"]) or _missing(None, "file")


def _missing(person: Person | None, kind: str) -> Response:
    text = f"There is no such {kind}."
    return answered("told", 404, person=person, title="Not found", text=text)


async def fleet(backend: Backend, request: Request, person: Person) -> Response:
    """All agents."""
    every = await backend.ask(agents.listed)
    now_ms = backend.now_ms()
    # Those that are revoked come last.
    every.sort(key=lambda one: one["revoked_ms"] is not None)
    rows = [agent_row(one, now_ms) for one in every]
    first = MOST_AGENTS * (_number(request, "page", 1) - 1)
    return await _made(
        backend,
        "fleet",
        person=person,
        place="agents",
        states=states(rows),
        total=len(rows),
        rows=rows[first : first + MOST_AGENTS],
        pages=-(-len(rows) // MOST_AGENTS),
    )


async def agent(backend: Backend, request: Request, person: Person) -> Response:
    """One agent: charts over a period, and its results."""
    own = request.path_params["id"]
    now_ms = backend.now_ms()
    days = _number(request, "days", 7)
    days = days if days in PERIODS else 7
    begin_ms = now_ms - days * _DAY_MS
    before = _number(request, "before", 0) or None

    wanted = request.query_params.get("control")

    def ask(connection: Any) -> Any:
        told = agents.one(connection, own)
        if told is None:
            return None
        known = views.congestion_controls(connection, own)
        # That of the result which came last, unless one is chosen.
        (last,) = views.newest(connection, own, None, 1) or ({"congestion_control": ""},)
        control = wanted if wanted in known else last["congestion_control"]
        return (
            told,
            (control, known),
            views.figures_over_time(connection, own, control, begin_ms, now_ms),
            views.newest(connection, own, before, MOST_RESULTS + 1),
        )

    found = await backend.ask(ask)
    if found is None:
        return _missing(person, "agent")
    told, (control, controls), rows, listed = found
    sizes = courses.sizes(rows)
    size = _number(request, "size", 0)
    size = size if size in sizes else max(sizes, default=0)

    def values() -> dict[str, Any]:
        return {
            "charts": courses.charts(rows, size, begin_ms, now_ms),
            "maps": courses.heat_maps(rows, size),
        }

    more = listed[MOST_RESULTS - 1]["number"] if len(listed) > MOST_RESULTS else None
    return await _made(
        backend,
        "agent",
        values,
        person=person,
        place="agents",
        agent=told,
        row=agent_row(told, now_ms),
        days=days,
        periods=PERIODS,
        size=size,
        sizes=[(one, size_words(one)) for one in sizes],
        control=control,
        controls=[(one, one or SYSTEMS) for one in controls],
        starved=len({row["began_ms"] for row in rows if row["starved"]}),
        apart=period(days * _DAY_MS // 1_000 // views.MOST_PICKED),
        listed=listed[:MOST_RESULTS],
        older=more,
        moment=moment,
        now_ms=now_ms,
    )


async def result(backend: Backend, request: Request, person: Person) -> Response:
    """One result, as `mptcplab probe --html` shows it."""
    own = request.path_params["id"]

    def ask(connection: Any) -> Any:
        row, content = results.one(connection, own), results.content(connection, own)
        if row is None or content is None:
            return None
        explained = explanations.kept(connection, own)
        return row, content, agents.one(connection, row["agent"]), explained

    found = await backend.ask(ask)
    if found is None:
        return _missing(person, "result")
    row, content, of_agent, explained = found

    def values() -> dict[str, Any]:
        kept, _ = intake.read_kept(content)
        created = f"Began {moment(row['began_ms'])} UTC, took {row['took_ms'] / 1e3:.0f} s"
        why = None if explained is None else Why.from_json(json.loads(explained))
        told = shown(intake.figures_of(kept), kept.target.host, created, why)
        return told | {"kept": kept, "verdict": row["verdict"]}

    return await _made(
        backend, "result", values, person=person, place="agents", row=row, agent=of_agent
    )


async def plans(backend: Backend, _request: Request, person: Person) -> Response:
    """All plans, and how far they are."""
    rows = await backend.ask(partial(plan_rows, now_ms=backend.now_ms()))
    return await _made(backend, "plans", person=person, place="plans", rows=rows)


async def _made(
    backend: Backend,
    name: str,
    more: Callable[[], dict[str, Any]] = dict,
    **values: Any,
) -> Response:
    """A page that is made by a thread beside those that answer agents."""
    return await backend.work(lambda: answered(name, **values, **more()))


def _number(request: Request, name: str, default: int) -> int:
    """A number of the query; the default in the place of what is none."""
    text = request.query_params.get(name, "")
    is_number = text.isascii() and text.isdigit() and len(text) < 16
    return max(int(text), 1) if is_number else default
