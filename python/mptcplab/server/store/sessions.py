"""Sessions of people who are signed in, by the digest of a secret that a browser has."""

from __future__ import annotations

from mptcplab.server.contact import Role
from mptcplab.server.secret import digest
from mptcplab.server.store.database import Connection
from mptcplab.server.store.people import Person

LASTS_S = 12 * 3_600
MOST_SESSIONS = 1_000
"""Of all people; the oldest give way."""


def begin(connection: Connection, person: str, secret: str, now_ms: int) -> None:
    """Begins a session of the holder of a token, by the token's id; those that ended are removed.

    So are those that a clock which was ahead has left in the future.
    """
    longest_ms = LASTS_S * 1_000
    connection.execute(
        "DELETE FROM sessions WHERE began_ms NOT BETWEEN ? AND ?",
        (now_ms - longest_ms + 1, now_ms),
    )
    connection.execute(
        "INSERT INTO sessions (secret_sha256, person, began_ms) VALUES (?, ?, ?)",
        (digest(secret), person, now_ms),
    )
    connection.execute(
        "DELETE FROM sessions WHERE number <= (SELECT max(number) FROM sessions) - ?",
        (MOST_SESSIONS,),
    )


def person(connection: Connection, secret: str, now_ms: int) -> Person | None:
    """The holder of the token that a session was begun with; null where either has ended."""
    row = connection.execute(
        "SELECT p.id, p.name, p.role FROM sessions AS s JOIN people AS p ON p.id = s.person"
        " WHERE s.secret_sha256 = ? AND ? BETWEEN s.began_ms AND s.began_ms + ? - 1"
        " AND p.revoked_ms IS NULL",
        (digest(secret), now_ms, LASTS_S * 1_000),
    ).fetchone()
    return None if row is None else Person(row["id"], row["name"], Role(row["role"]))


def end(connection: Connection, secret: str) -> None:
    """Ends a session, if there is one."""
    connection.execute("DELETE FROM sessions WHERE secret_sha256 = ?", (digest(secret),))
