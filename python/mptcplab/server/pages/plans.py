"""Plans as rows, with their progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.measure.words import listed, size_words
from mptcplab.server.pages.words import ago, count, moment, period
from mptcplab.server.store import plans, views
from mptcplab.server.store.database import Connection

MOST_PLANS = 40
_OUTCOMES = ("complete", "partial", "failed", "skipped")


@dataclass(frozen=True)
class PlanRow:
    """A plan."""

    id: str
    name: str
    since: str
    target: str
    """Without its token."""
    what: str
    when: str
    ends: Sequence[str]
    agents: str
    results: str
    outcomes: str
    """Of the newest results."""
    last: str
    elapsed: float | None
    """Part of the time until its end, from 0 to 1; null where it has none."""


def plan_rows(connection: Connection, now_ms: int) -> list[PlanRow]:
    """The first plans by name."""
    return [
        _row(one, views.plan_progress(connection, one["name"]), now_ms)
        for one in plans.listed(connection)[:MOST_PLANS]
    ]


def _row(told: Mapping[str, Any], progress: Mapping[str, Any], now_ms: int) -> PlanRow:
    plan = told["plan"]
    until_ms = None if plan["until_unix_s"] is None else plan["until_unix_s"] * 1_000
    looked_at, number = progress["looked_at"], progress["results"]
    outcomes = ", ".join(
        f"{count(progress['outcomes'][one])} {one}"
        for one in _OUTCOMES
        if one in progress["outcomes"]
    )
    if outcomes and looked_at < number:
        outcomes += f" (of the newest {looked_at})"
    return PlanRow(
        id=told["id"],
        name=told["name"],
        since=moment(told["created_ms"]),
        target=f"{plan['target']['host']}:{plan['target']['port']}",
        what=_what(plan),
        when=_when(plan),
        ends=_ends(plan, until_ms),
        agents="all" if plan["agents"] is None else f"{len(plan['agents'])} named",
        results=_results(progress),
        outcomes=outcomes,
        last=ago(progress["last_ms"], now_ms),
        elapsed=_elapsed(told["created_ms"], until_ms, now_ms),
    )


def _what(plan: Mapping[str, Any]) -> str:
    sizes = ", ".join(size_words(size) for size in plan["sizes_bytes"])
    often = "once" if plan["repeat"] == 1 else f"{plan['repeat']} times"
    text = f"{sizes} {' and '.join(plan['directions'])}, {often} each"
    controls = plan["congestion_control"]
    return text if controls is None else f"{text}, with {listed(controls)}"


def _when(plan: Mapping[str, Any]) -> str:
    text = f"every {period(plan['schedule']['every_s'])}"
    if plan["windows"]:
        text += (
            ", " + " and ".join(f"{one['from']} to {one['to']}" for one in plan["windows"]) + " UTC"
        )
    return f"{text}; at most {size_words(plan['daily_bytes'])} a day"


def _ends(plan: Mapping[str, Any], until_ms: int | None) -> list[str]:
    told = []
    if plan["most_experiments"] is not None:
        told.append(f"after {count(plan['most_experiments'])} experiments of an agent")
    if until_ms is not None:
        told.append(f"on {moment(until_ms)} UTC")
    return told


def _results(progress: Mapping[str, Any]) -> str:
    number = progress["results"]
    if not number:
        return "none yet"
    if number > views.MOST_COUNTED:
        return f"more than {count(views.MOST_COUNTED)}"
    return count(number)


def _elapsed(created_ms: int, until_ms: int | None, now_ms: int) -> float | None:
    if until_ms is None:
        return None
    if until_ms <= created_ms:
        return 1.0
    return min(max((now_ms - created_ms) / (until_ms - created_ms), 0.0), 1.0)
