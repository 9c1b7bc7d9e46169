"""Troubles that have been told, and what they are judged by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mptcplab.server.alerts import Change
from mptcplab.server.figure_rows import ALL_PATHS, Metric
from mptcplab.server.store.database import Connection

_FLEET = f"""
SELECT a.id, a.name, a.enrolled_ms, a.contact_ms, r.id AS result, r.arrived_ms, r.outcome, r.reason,
    (
        SELECT min(mean) FROM figures
        WHERE result = a.last_result AND metric = '{Metric.DELAY}' AND path = {ALL_PATHS}
        AND size_bytes = (
            SELECT max(size_bytes) FROM figures
            WHERE result = a.last_result AND metric = '{Metric.DELAY}' AND path = {ALL_PATHS}
        )
    ) AS benefit
FROM agents AS a LEFT JOIN results AS r ON r.number = a.last_result
WHERE a.revoked_ms IS NULL ORDER BY a.name, a.id
"""


def fleet(connection: Connection) -> list[dict[str, Any]]:
    """Agents that are not revoked, with their last signs and their last result's benefit."""
    return [dict(row) for row in connection.execute(_FLEET)]


def told(connection: Connection) -> set[tuple[str, str]]:
    """Agents and kinds of troubles that were told to have begun."""
    return {
        (row["agent"], row["kind"]) for row in connection.execute("SELECT agent, kind FROM alerts")
    }


def tell(connection: Connection, changes: Iterable[Change], now_ms: int) -> None:
    """Keeps what has been told."""
    for one in changes:
        connection.execute(
            "DELETE FROM alerts WHERE agent = ? AND kind = ?", (one.agent, one.kind.value)
        )
        if one.begins:
            connection.execute(
                "INSERT INTO alerts (agent, kind, since_ms) VALUES (?, ?, ?)",
                (one.agent, one.kind.value, now_ms),
            )
