"""Results: the exact bytes, and the columns that questions need."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from mptcplab.server.intake import Arrival
from mptcplab.server.store import numbers
from mptcplab.server.store.database import Connection, Row

MOST_LISTED = 1_000


class OtherContentError(Exception):
    """There is another result with this id."""


def put(connection: Connection, arrival: Arrival, now_ms: int) -> bool:
    """Keeps a result; whether it is new. One that is here already changes nothing.

    After an error the transaction, or its part, is to be undone.

    Raises:
        OtherContentError: there is another one with its id.

    """
    result = arrival.result
    inserted = connection.execute(
        "INSERT INTO results (id, agent, plan, plan_name, sequence, outcome, reason, began_ms,"
        " took_ms, arrived_ms, starved, used_bytes, interfaces, verdict, size_bytes, sha256,"
        " congestion_control)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO NOTHING RETURNING number",
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
            int(result.host.starved),
            result.used_bytes,
            json.dumps([path.interface for path in result.paths]),
            json.dumps(arrival.verdict),
            arrival.size_bytes,
            arrival.sha256,
            result.congestion_control or "",
        ),
    )
    # Its answer is awaited with that to the next question. The number of one that is here is known.
    is_new_number = numbers.add(connection, result.agent, result.sequence)
    row = inserted.fetchone()
    if row is None:
        known = connection.execute("SELECT sha256 FROM results WHERE id = ?", (result.id,))
        if known.fetchone()["sha256"] != arrival.sha256:
            raise OtherContentError
        return False
    number = row["number"]
    connection.execute(
        "INSERT INTO contents (result, zlib) VALUES (?, ?)", (number, arrival.content)
    )
    connection.insert("figures", [{"result": number, **vars(row)} for row in arrival.rows])
    connection.execute(
        "UPDATE agents SET results = results + 1, sequences = sequences + ?,"
        " last_sequence = CASE WHEN last_sequence > ? THEN last_sequence ELSE ? END,"
        " last_result = ? WHERE id = ?",
        (int(is_new_number), result.sequence, result.sequence, number, result.agent),
    )
    _count(connection, result.outcome, 1)
    return True


_COLUMNS = """
number, id, agent, plan, sequence, outcome, reason, began_ms, took_ms, arrived_ms, starved,
used_bytes, interfaces, verdict, size_bytes, sha256, congestion_control
"""


def listed(
    connection: Connection,
    *,
    agent: str | None = None,
    plan: str | None = None,
    congestion_control: str | None = None,
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
    if congestion_control is not None:
        more.append(("congestion_control = ?", congestion_control))
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


def one(connection: Connection, own: str) -> dict[str, Any] | None:
    """The columns of a result, by its id."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM results WHERE id = ?", (own,)).fetchone()
    return None if row is None else _told(row)


def content(connection: Connection, own: str) -> bytes | None:
    """The exact bytes of a result as they are kept, compressed (zlib)."""
    row = connection.execute(
        "SELECT zlib FROM contents WHERE result = (SELECT number FROM results WHERE id = ?)",
        (own,),
    ).fetchone()
    return None if row is None else bytes(row["zlib"])


def counts(connection: Connection) -> dict[str, int]:
    """Results by outcome."""
    rows = connection.execute("SELECT outcome, results FROM outcomes WHERE results > 0")
    return {row["outcome"]: row["results"] for row in rows}


def prune(connection: Connection, before_ms: int, most: int) -> int:
    """Forgets results that arrived before a time, so many at most, and says how many.

    Their sequence numbers stay known: they are no gaps, and no other gap is hidden by them. The
    time is the server's, as agents' clocks may be wrong by years.
    """
    removed = connection.execute(
        "DELETE FROM results WHERE number IN"
        " (SELECT number FROM results WHERE arrived_ms < ? ORDER BY arrived_ms LIMIT ?)"
        " RETURNING number, agent, outcome",
        (before_ms, most),
    ).fetchall()
    connection.executemany(
        "UPDATE agents SET results = results - 1,"
        " last_result = CASE WHEN last_result = ? THEN NULL ELSE last_result END WHERE id = ?",
        [(row["number"], row["agent"]) for row in removed],
    )
    for outcome, count in Counter(row["outcome"] for row in removed).items():
        _count(connection, outcome, -count)
    return len(removed)


def _count(connection: Connection, outcome: str, more: int) -> None:
    connection.execute(
        "INSERT INTO outcomes (outcome, results) VALUES (?, ?)"
        " ON CONFLICT (outcome) DO UPDATE SET results = outcomes.results + excluded.results",
        (outcome, more),
    )


def _told(row: Row) -> dict[str, Any]:
    told = dict(row)
    return told | {
        "starved": bool(told["starved"]),
        "interfaces": json.loads(told["interfaces"]),
        "verdict": json.loads(told["verdict"]),
        "sha256": told["sha256"].hex(),
        "congestion_control": told["congestion_control"] or None,
    }
