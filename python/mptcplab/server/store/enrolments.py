"""Enrolment tokens, and the agents that are enrolled by them."""

from __future__ import annotations

import secrets
from typing import Any

from mptcplab.server.contact import Enrolment
from mptcplab.server.secret import digest, is_same
from mptcplab.server.store.database import Connection, Row


class NotEnrolledError(Exception):
    """An enrolment token that is unknown, used up, expired or revoked."""


def add(connection: Connection, secret: str, agents: int, expires_ms: int, now_ms: int) -> str:
    """Keeps an enrolment token for so many agents, whose id it returns."""
    own = secrets.token_hex(8)
    connection.execute(
        "INSERT INTO enrolments (id, secret_sha256, agents, created_ms, expires_ms)"
        " VALUES (?, ?, ?, ?, ?)",
        (own, digest(secret), agents, now_ms, expires_ms),
    )
    return own


def is_known(connection: Connection, secret: str, now_ms: int) -> bool:
    """Whether it is neither expired nor revoked; it may be used up, by agents that ask again."""
    return _known(connection, secret, now_ms) is not None


def enrol(
    connection: Connection,
    secret: str,
    enrolment: Enrolment,
    agent_secret: str,
    now_ms: int,
) -> str:
    """Adds an agent, whose id it returns; one with this secret is the same one.

    Raises:
        NotEnrolledError: the token is not good, or the agent is revoked.

    """
    row = _known(connection, secret, now_ms)
    if row is None:
        raise NotEnrolledError
    again = connection.execute(
        "SELECT id, revoked_ms FROM agents WHERE secret_sha256 = ?", (digest(agent_secret),)
    ).fetchone()
    if again is not None and again["revoked_ms"] is None:
        return str(again["id"])
    if again is not None or row["used"] >= row["agents"]:
        raise NotEnrolledError
    connection.execute("UPDATE enrolments SET used = used + 1 WHERE id = ?", (row["id"],))
    agent = secrets.token_hex(8)
    connection.execute(
        "INSERT INTO agents (id, name, version, kernel, secret_sha256, enrolment, enrolled_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            agent,
            enrolment.name,
            enrolment.version,
            enrolment.kernel,
            digest(agent_secret),
            row["id"],
            now_ms,
        ),
    )
    return agent


def listed(connection: Connection) -> list[dict[str, Any]]:
    """All of them, without their secrets."""
    rows = connection.execute(
        "SELECT id, agents, used, created_ms, expires_ms, revoked_ms FROM enrolments"
        " ORDER BY created_ms, id"
    )
    return [dict(row) for row in rows]


def revoke(connection: Connection, own: str, now_ms: int) -> bool:
    """Whether there was such a token; its agents stay."""
    changed = connection.execute(
        "UPDATE enrolments SET revoked_ms = coalesce(revoked_ms, ?) WHERE id = ?", (now_ms, own)
    )
    return changed.rowcount > 0


def _known(connection: Connection, secret: str, now_ms: int) -> Row | None:
    row: Row | None = connection.execute(
        "SELECT * FROM enrolments WHERE secret_sha256 = ? AND revoked_ms IS NULL"
        " AND expires_ms > ?",
        (digest(secret), now_ms),
    ).fetchone()
    return row if row is not None and is_same(row["secret_sha256"], digest(secret)) else None
