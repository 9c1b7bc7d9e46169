"""Troubles that have been told, and what they are judged by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mptcplab.server.alerts import Change
from mptcplab.server.figure_rows import ALL_PATHS, Metric
from mptcplab.server.store.database import Connection

MOST_RECENT = 32
"""Results of an agent among which the last ones of each congestion control are."""
_FLEET = f"""
SELECT a.id, a.name, a.enrolled_ms, a.contact_ms, r.id AS result, r.arrived_ms, r.outcome, r.reason,
    (
        WITH recent AS (
            SELECT number, plan, congestion_control FROM results WHERE agent = a.id
            ORDER BY number DESC LIMIT {MOST_RECENT}
        ), newest AS (
            SELECT max(number) AS number FROM recent WHERE plan = r.plan GROUP BY congestion_control
        )
        SELECT min(f.mean) FROM newest AS n JOIN figures AS f ON f.result = n.number
        WHERE f.metric = '{Metric.DELAY}' AND f.path = {ALL_PATHS}
        AND f.size_bytes = (
            SELECT max(size_bytes) FROM figures
            WHERE result = n.number AND metric = '{Metric.DELAY}' AND path = {ALL_PATHS}
        )
    ) AS benefit
FROM agents AS a LEFT JOIN results AS r ON r.number = a.last_result
WHERE a.revoked_ms IS NULL ORDER BY a.name, a.id
"""


def fleet(connection: Connection) -> list[dict[str, Any]]:
    """Agents that are not revoked, with their last signs and the least benefit of last results.

    Of each congestion control of the last result's plan there is one.
    """
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
