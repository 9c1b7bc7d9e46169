"""Results: the exact bytes, and the columns that questions need."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import astuple
from typing import Any

from mptcplab.server.intake import Arrival

MOST_LISTED = 1_000


class OtherContentError(Exception):
    """There is another result with this id."""


def put(connection: sqlite3.Connection, arrival: Arrival, now_ms: int) -> bool:
    """Keeps a result; whether it is new. One that is here already changes nothing.

    Raises:
        OtherContentError: there is another one with its id.

    """
    result = arrival.result
    known = connection.execute("SELECT sha256 FROM results WHERE id = ?", (result.id,)).fetchone()
    if known is not None:
        if known["sha256"] != arrival.sha256:
            raise OtherContentError
        return False
    (repeated,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM results WHERE agent = ? AND sequence = ? LIMIT 1)",
        (result.agent, result.sequence),
    ).fetchone()
    number = connection.execute(
        "INSERT INTO results (id, agent, plan, plan_name, sequence, outcome, reason, began_ms,"
        " took_ms, arrived_ms, starved, used_bytes, interfaces, verdict, size_bytes, sha256)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            result.id,
            result.agent,
            result.plan,
            result.plan.partition("@")[0],
            result.sequence,
            result.outcome,
            result.reason,
            result.began_unix_ms,
            result.took_ms,
            now_ms,
            result.host.starved,
            result.used_bytes,
            json.dumps([path.interface for path in result.paths]),
            json.dumps(arrival.verdict),
            arrival.size_bytes,
            arrival.sha256,
        ),
    ).lastrowid
    connection.execute(
        "INSERT INTO contents (result, zlib) VALUES (?, ?)", (number, arrival.content)
    )
    connection.executemany(
        "INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, *astuple(row)) for row in arrival.rows],
    )
    connection.execute(
        "UPDATE agents SET results = results + 1, sequences = sequences + ?,"
        " last_sequence = max(coalesce(last_sequence, 0), ?),"
        " last_result = CASE WHEN ? >= coalesce("
        "  (SELECT began_ms FROM results WHERE number = last_result), 0)"
        "  THEN ? ELSE last_result END WHERE id = ?",
        (1 - repeated, result.sequence, result.began_unix_ms, number, result.agent),
    )
    return True


_COLUMNS = """
number, id, agent, plan, sequence, outcome, reason, began_ms, took_ms, arrived_ms, starved,
used_bytes, interfaces, verdict, size_bytes, sha256
"""


def listed(
    connection: sqlite3.Connection,
    *,
    agent: str | None = None,
    plan: str | None = None,
    since: int = 0,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """Results in the order in which they arrived, those with a `number` above `since`.

    `plan` is a plan's name, for all of its versions, or the id of one. The number of the last one
    is the `since` of the next question.
    """
    conditions, values = ["number > ?"], [since]
    more: list[tuple[str, Any]] = []
    if agent is not None:
        more.append(("agent = ?", agent))
    if plan is not None:
        more.append(("plan_name = ?", plan.partition("@")[0]))
        if "@" in plan:
            more.append(("plan = ?", plan))
    conditions += [condition for condition, _ in more]
    values += [value for _, value in more]
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM results WHERE {' AND '.join(conditions)} ORDER BY number LIMIT ?",
        (*values, min(limit, MOST_LISTED)),
    )
    return [_told(row) for row in rows]


def one(connection: sqlite3.Connection, own: str) -> dict[str, Any] | None:
    """The columns of a result, by its id."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM results WHERE id = ?", (own,)).fetchone()
    return None if row is None else _told(row)


def content(connection: sqlite3.Connection, own: str) -> bytes | None:
    """The exact bytes of a result as they are kept, compressed (zlib)."""
    row = connection.execute(
        "SELECT zlib FROM contents WHERE result = (SELECT number FROM results WHERE id = ?)",
        (own,),
    ).fetchone()
    return None if row is None else bytes(row["zlib"])


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Results by outcome."""
    rows = connection.execute("SELECT outcome, count(*) AS number FROM results GROUP BY outcome")
    return {row["outcome"]: row["number"] for row in rows}


def prune(connection: sqlite3.Connection, before_ms: int, most: int) -> int:
    """Forgets results that began before a time, so many at most, and says how many.

    Their sequence numbers count as known from then on: they are no gaps.
    """
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS old (number INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.old")
    connection.execute(
        "INSERT INTO temp.old SELECT number FROM results WHERE began_ms < ? LIMIT ?",
        (before_ms, most),
    )
    told = connection.execute(
        "SELECT agent, max(sequence) AS last FROM results"
        " WHERE number IN (SELECT number FROM temp.old) GROUP BY agent"
    ).fetchall()
    connection.execute(
        "UPDATE agents SET last_result = NULL WHERE last_result IN (SELECT number FROM temp.old)"
    )
    removed = connection.execute(
        "DELETE FROM results WHERE number IN (SELECT number FROM temp.old)"
    ).rowcount
    for row in told:
        connection.execute(
            "UPDATE agents SET first_sequence = max(first_sequence, ? + 1) WHERE id = ?",
            (row["last"], row["agent"]),
        )
        connection.execute(
            "UPDATE agents SET (results, sequences) = (SELECT count(*), count(DISTINCT"
            " CASE WHEN r.sequence >= agents.first_sequence THEN r.sequence END)"
            " FROM results AS r WHERE r.agent = agents.id) WHERE id = ?",
            (row["agent"],),
        )
    return removed


def _told(row: sqlite3.Row) -> dict[str, Any]:
    told = dict(row)
    return told | {
        "starved": bool(told["starved"]),
        "interfaces": json.loads(told["interfaces"]),
        "verdict": json.loads(told["verdict"]),
        "sha256": told["sha256"].hex(),
    }
