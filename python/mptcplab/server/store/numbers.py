"""Numbers of an agent's results that have ever been here: ranges, of which none touch."""

from __future__ import annotations

import sqlite3

MOST_GAPS = 100
"""Ranges that are told of an agent: the last ones."""


def add(connection: sqlite3.Connection, agent: str, number: int) -> bool:
    """Adds a number; whether it is new."""
    before = connection.execute(
        "SELECT first, last FROM numbers WHERE agent = ? AND first <= ?"
        " ORDER BY first DESC LIMIT 1",
        (agent, number),
    ).fetchone()
    if before is not None and number <= before["last"]:
        return False
    after = connection.execute(
        "SELECT last FROM numbers WHERE agent = ? AND first = ?", (agent, number + 1)
    ).fetchone()
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


def gaps(connection: sqlite3.Connection, agent: str) -> list[list[int]]:
    """Ranges (first and last) between those that are known, and before them."""
    rows = connection.execute(
        """
        SELECT before + 1 AS first, first - 1 AS last FROM (
            SELECT first, coalesce(lag(last) OVER (ORDER BY first), -1) AS before
            FROM numbers WHERE agent = ?
        ) WHERE first > before + 1 ORDER BY first DESC LIMIT ?
        """,
        (agent, MOST_GAPS),
    )
    return [[row["first"], row["last"]] for row in rows][::-1]
