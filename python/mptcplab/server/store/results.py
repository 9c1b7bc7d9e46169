"""Results: the exact bytes, and the columns that questions need."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import astuple
from typing import Any

from mptcplab.server.intake import Arrival
from mptcplab.server.store import numbers

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
    is_new_number = numbers.add(connection, result.agent, result.sequence)
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
        " last_sequence = max(coalesce(last_sequence, 0), ?), last_result = ? WHERE id = ?",
        (is_new_number, result.sequence, number, result.agent),
    )
    _count(connection, result.outcome, 1)
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
    begin_ms: int | None = None,
    end_ms: int | None = None,
    since: int = 0,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """Results in the order in which they arrived, those with a `number` above `since`.

    `plan` is a plan's name, for all of its versions, or the id of one; the experiments began in
    [`begin_ms`, `end_ms`), by the agents' clocks. The number of the last one is the `since` of the
    next question.
    """
    conditions, values = ["number > ?"], [since]
    more: list[tuple[str, Any]] = []
    if agent is not None:
        more.append(("agent = ?", agent))
    if plan is not None:
        more.append(("plan_name = ?", plan.partition("@")[0]))
        if "@" in plan:
            more.append(("plan = ?", plan))
    if begin_ms is not None:
        more.append(("began_ms >= ?", begin_ms))
    if end_ms is not None:
        more.append(("began_ms < ?", end_ms))
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
    rows = connection.execute("SELECT outcome, results FROM outcomes WHERE results > 0")
    return {row["outcome"]: row["results"] for row in rows}


def prune(connection: sqlite3.Connection, before_ms: int, most: int) -> int:
    """Forgets results that arrived before a time, so many at most, and says how many.

    Their sequence numbers stay known: they are no gaps, and no other gap is hidden by them. The
    time is the server's, as agents' clocks may be wrong by years.
    """
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS old (number INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.old")
    connection.execute(
        "INSERT INTO temp.old SELECT number FROM results WHERE arrived_ms < ?"
        " ORDER BY arrived_ms LIMIT ?",
        (before_ms, most),
    )
    told = connection.execute(
        "SELECT agent, outcome, count(*) AS results FROM results"
        " WHERE number IN (SELECT number FROM temp.old) GROUP BY agent, outcome"
    ).fetchall()
    connection.execute(
        "UPDATE agents SET last_result = NULL WHERE last_result IN (SELECT number FROM temp.old)"
    )
    removed = connection.execute(
        "DELETE FROM results WHERE number IN (SELECT number FROM temp.old)"
    ).rowcount
    for row in told:
        connection.execute(
            "UPDATE agents SET results = results - ? WHERE id = ?", (row["results"], row["agent"])
        )
        _count(connection, row["outcome"], -row["results"])
    return removed


def _count(connection: sqlite3.Connection, outcome: str, more: int) -> None:
    connection.execute(
        "INSERT INTO outcomes VALUES (?1, ?2)"
        " ON CONFLICT (outcome) DO UPDATE SET results = results + ?2",
        (outcome, more),
    )


def _told(row: sqlite3.Row) -> dict[str, Any]:
    told = dict(row)
    return told | {
        "starved": bool(told["starved"]),
        "interfaces": json.loads(told["interfaces"]),
        "verdict": json.loads(told["verdict"]),
        "sha256": told["sha256"].hex(),
    }
