"""Plans: each change is a new version, and those of before are kept for their results."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any

from mptcplab.server.plan import Plan, plan_id
from mptcplab.server.store.database import Connection, Row


def put(connection: Connection, name: str, plan: Plan, now_ms: int) -> tuple[str, bool]:
    """Adds or changes a plan: its id, and whether that changed anything."""
    body = plan.model_dump_json(by_alias=True)
    current = _current(connection, name)
    if current is not None and current["body"] == body:
        return plan_id(name, current["version"]), False
    remove(connection, name, now_ms)
    version = connection.execute(
        "SELECT coalesce(max(version), 0) + 1 AS following FROM plans WHERE name = ?", (name,)
    ).fetchone()["following"]
    connection.execute(
        "INSERT INTO plans (name, version, body, created_ms) VALUES (?, ?, ?, ?)",
        (name, version, body, now_ms),
    )
    return plan_id(name, version), True


def remove(connection: Connection, name: str, now_ms: int) -> bool:
    """Whether there was such a plan; it is kept, and no agent carries it out any more."""
    changed = connection.execute(
        "UPDATE plans SET removed_ms = ? WHERE name = ? AND removed_ms IS NULL", (now_ms, name)
    )
    return changed.rowcount > 0


def one(connection: Connection, name: str) -> dict[str, Any] | None:
    """The current version of a plan."""
    row = _current(connection, name)
    return None if row is None else _told(row)


def listed(connection: Connection) -> list[dict[str, Any]]:
    """The current versions of all plans, by name."""
    rows = connection.execute("SELECT * FROM plans WHERE removed_ms IS NULL ORDER BY name")
    return [_told(row) for row in rows]


def of_agent(connection: Connection, agent: str) -> tuple[str, list[dict[str, Any]]]:
    """The plans that an agent is to carry out, and a tag that changes with them."""
    told = []
    for row in connection.execute("SELECT * FROM plans WHERE removed_ms IS NULL ORDER BY name"):
        only, plan = _for_agents(row["name"], row["version"], row["body"])
        if only is None or agent in only:
            told.append(plan)
    tag = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    return f'"{tag[:32]}"', told


@lru_cache(256)
def _for_agents(name: str, version: int, body: str) -> tuple[frozenset[str] | None, dict[str, Any]]:
    """The agents that a plan is for, null where it is for all, and the plan as they get it.

    Each agent asks for its plans whenever it has measured, and they change seldom.
    """
    plan = Plan.model_validate_json(body)
    only = None if plan.agents is None else frozenset(plan.agents)
    return only, plan.of_agent(name, version)


def _current(connection: Connection, name: str) -> Row | None:
    row: Row | None = connection.execute(
        "SELECT * FROM plans WHERE name = ? AND removed_ms IS NULL", (name,)
    ).fetchone()
    return row


def _told(row: Row) -> dict[str, Any]:
    return {
        "id": plan_id(row["name"], row["version"]),
        "name": row["name"],
        "created_ms": row["created_ms"],
        "plan": json.loads(row["body"]),
    }
