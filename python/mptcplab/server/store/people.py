"""Tokens of people and programs."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from mptcplab.server.contact import Role
from mptcplab.server.secret import digest, is_same
from mptcplab.server.store.database import Connection


@dataclass(frozen=True)
class Person:
    """The holder of a token."""

    id: str
    name: str
    role: Role


def add(connection: Connection, name: str, role: Role, secret: str, now_ms: int) -> str:
    """Keeps a token, whose id it returns."""
    own = secrets.token_hex(8)
    connection.execute(
        "INSERT INTO people (id, name, role, secret_sha256, created_ms) VALUES (?, ?, ?, ?, ?)",
        (own, name, role.value, digest(secret), now_ms),
    )
    return own


def of_secret(connection: Connection, secret: str) -> Person | None:
    """The holder of a token that is not revoked."""
    row = connection.execute(
        "SELECT * FROM people WHERE secret_sha256 = ? AND revoked_ms IS NULL", (digest(secret),)
    ).fetchone()
    if row is None or not is_same(row["secret_sha256"], digest(secret)):
        return None
    return Person(row["id"], row["name"], Role(row["role"]))


def one(connection: Connection, own: str) -> Person | None:
    """The holder of a token that is not revoked, by the token's id."""
    row = connection.execute(
        "SELECT id, name, role FROM people WHERE id = ? AND revoked_ms IS NULL", (own,)
    ).fetchone()
    return None if row is None else Person(row["id"], row["name"], Role(row["role"]))


def listed(connection: Connection) -> list[dict[str, Any]]:
    """All of them, without their secrets."""
    rows = connection.execute(
        "SELECT id, name, role, created_ms, revoked_ms FROM people ORDER BY created_ms, id"
    )
    return [dict(row) for row in rows]


def revoke(connection: Connection, own: str, now_ms: int) -> bool:
    """Whether there was such a token."""
    changed = connection.execute(
        "UPDATE people SET revoked_ms = coalesce(revoked_ms, ?) WHERE id = ?", (now_ms, own)
    )
    return changed.rowcount > 0


def is_any(connection: Connection) -> bool:
    """Whether there has ever been one."""
    return connection.execute("SELECT 1 FROM people LIMIT 1").fetchone() is not None
