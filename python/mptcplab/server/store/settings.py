"""Settings that the server leaves for commands on the same folder."""

from __future__ import annotations

import sqlite3

URL = "url"
"""The address under which agents reach the server."""
FINGERPRINT = "fingerprint"
"""Of the certificate that they see."""


def put(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Keeps a setting."""
    connection.execute("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (key, value))


def one(connection: sqlite3.Connection, key: str) -> str | None:
    """A setting."""
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row["value"])
