"""Numbers of an agent's results that have ever been here: ranges, of which none touch."""

from __future__ import annotations

from mptcplab.server.store.database import Connection

MOST_GAPS = 100
"""Ranges that are told of an agent: the last ones."""


def add(connection: Connection, agent: str, number: int) -> bool:
    """Adds a number; whether it is new."""
    rows = connection.execute(
        "SELECT first, last FROM numbers WHERE agent = ? AND first <= ?"
        " ORDER BY first DESC LIMIT 2",
        (agent, number + 1),
    ).fetchall()
    after = rows.pop(0) if rows and rows[0]["first"] == number + 1 else None
    before = rows[0] if rows else None
    if before is not None and number <= before["last"]:
        return False
    last = number if after is None else after["last"]
    if after is not None:
        connection.execute("DELETE FROM numbers WHERE agent = ? AND first = ?", (agent, number + 1))
    if before is not None and before["last"] == number - 1:
        connection.execute(
            "UPDATE numbers SET last = ? WHERE agent = ? AND first = ?",
            (last, agent, before["first"]),
        )
    else:
        connection.execute("INSERT INTO numbers VALUES (?, ?, ?)", (agent, number, last))
    return True


def gaps(connection: Connection, agent: str) -> list[list[int]]:
    """Ranges (first and last) between those that are known, and before them."""
    rows = connection.execute(
        """
        SELECT before + 1 AS first, first - 1 AS last FROM (
            SELECT first, coalesce(lag(last) OVER (ORDER BY first), -1) AS before
            FROM numbers WHERE agent = ?
        ) AS ranges WHERE first > before + 1 ORDER BY first DESC LIMIT ?
        """,
        (agent, MOST_GAPS),
    )
    return [[row["first"], row["last"]] for row in rows][::-1]
