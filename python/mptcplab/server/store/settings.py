"""Settings that the server leaves for commands on the same folder."""

from __future__ import annotations

from mptcplab.server.store.database import Connection

URL = "url"
"""The address under which agents reach the server."""
FINGERPRINT = "fingerprint"
"""Of the certificate that they see."""


def put(connection: Connection, key: str, value: str) -> None:
    """Keeps a setting."""
    connection.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def one(connection: Connection, key: str) -> str | None:
    """A setting."""
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row["value"])
