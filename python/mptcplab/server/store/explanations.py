"""Explanations of results."""

from __future__ import annotations

from mptcplab.server.store.database import Connection


def keep(connection: Connection, own: str, why: str) -> None:
    """Keeps the explanation of a result, by its id, in the place of one that is kept."""
    connection.execute(
        "INSERT INTO explanations (result, why) SELECT number, ? FROM results WHERE id = ?"
        " ON CONFLICT (result) DO UPDATE SET why = excluded.why",
        (why, own),
    )


def kept(connection: Connection, own: str) -> str | None:
    """The explanation of a result, by its id; null where none was asked for."""
    row = connection.execute(
        "SELECT why FROM explanations WHERE result = (SELECT number FROM results WHERE id = ?)",
        (own,),
    ).fetchone()
    return None if row is None else str(row["why"])
