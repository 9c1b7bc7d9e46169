"""Questions of the pages. Each looks at a bounded number of rows, however many there are."""

from __future__ import annotations

import json
from typing import Any

from mptcplab.server.figure_rows import Metric
from mptcplab.server.store.database import Connection

MOST_PICKED = 250
"""Results over time that a chart is drawn of."""
MOST_FIGURES = 20_000
MOST_COUNTED = 100_000
"""Results of a plan; of more it is told that they are more."""
NEWEST = 500
"""Results of a plan of which outcomes are counted."""
_CHARTS = ", ".join(
    f"'{one}'"
    for one in (
        Metric.TCP_MBPS,
        Metric.MPTCP_MBPS,
        Metric.AGGREGATION,
        Metric.DELAY,
        Metric.RTT_MS,
        Metric.LOADED_RTT_MS,
    )
)

# One result for each part of the time: a look into the index for each, and not at the rows between.
_PICKED = """
WITH RECURSIVE picked (at) AS (
    SELECT (SELECT min(began_ms) FROM results
        WHERE agent = :agent AND congestion_control = :control
        AND began_ms >= :begin AND began_ms < :end)
    UNION ALL
    SELECT (SELECT min(began_ms) FROM results
        WHERE agent = :agent AND congestion_control = :control AND began_ms < :end
        AND began_ms >= :begin + ((at - :begin) / :part + 1) * :part)
    FROM picked WHERE at IS NOT NULL
)
SELECT (
    SELECT number FROM results
    WHERE agent = :agent AND congestion_control = :control AND began_ms = at LIMIT 1
) AS number
FROM picked WHERE at IS NOT NULL
"""


def congestion_controls(connection: Connection, agent: str) -> list[str]:
    """Those of an agent's results by name; an empty one is that of each end's system."""
    rows = connection.execute(
        "WITH RECURSIVE controls (name) AS ("
        " SELECT min(congestion_control) FROM results WHERE agent = :agent UNION ALL"
        " SELECT (SELECT min(congestion_control) FROM results"
        " WHERE agent = :agent AND congestion_control > name) FROM controls WHERE name IS NOT NULL)"
        " SELECT name FROM controls WHERE name IS NOT NULL",
        {"agent": agent},
    )
    return [row["name"] for row in rows]


def figures_over_time(
    connection: Connection, agent: str, control: str, begin_ms: int, end_ms: int
) -> list[dict[str, Any]]:
    """Figures of an agent's results with one congestion control, the oldest first.

    They began in [`begin_ms`, `end_ms`).

    Of many results one for each part of the time, `MOST_PICKED` at most.
    """
    part = max((end_ms - begin_ms) // MOST_PICKED, 1)
    rows = connection.execute(
        f"SELECT r.began_ms, r.starved, f.metric, f.direction, f.size_bytes, f.path, f.interface,"
        f" f.mean, f.low, f.high FROM ({_PICKED}) AS p"
        " JOIN results AS r ON r.number = p.number JOIN figures AS f ON f.result = p.number"
        f" WHERE f.metric IN ({_CHARTS}) LIMIT {MOST_FIGURES}",
        {
            "agent": agent,
            "control": control,
            "begin": begin_ms,
            "end": end_ms,
            "part": part,
        },
    )
    return sorted((dict(row) for row in rows), key=lambda row: int(row["began_ms"]))


def newest(
    connection: Connection, agent: str, before: int | None, limit: int
) -> list[dict[str, Any]]:
    """Results of an agent, the last to arrive first; with a `number` below `before`."""
    rows = connection.execute(
        "SELECT number, id, plan, sequence, outcome, reason, began_ms, starved, used_bytes,"
        " verdict, congestion_control FROM results"
        " WHERE agent = ? AND (CAST(? AS BIGINT) IS NULL OR number < ?)"
        " ORDER BY number DESC LIMIT ?",
        (agent, before, before, limit),
    )
    return [dict(row) | {"verdict": json.loads(row["verdict"])} for row in rows]


def plan_progress(connection: Connection, name: str) -> dict[str, Any]:
    """Results of all versions of a plan.

    `results`: how many, `MOST_COUNTED + 1` where they are more than that; of the `NEWEST` of them
    `looked_at`, `outcomes`, `agents` (how many sent them), and `last_ms`, when the last one began.
    """
    count = connection.execute(
        "SELECT count(*) AS results FROM"
        " (SELECT 1 FROM results WHERE plan_name = ? LIMIT ?) AS counted",
        (name, MOST_COUNTED + 1),
    ).fetchone()["results"]
    rows = connection.execute(
        "SELECT agent, outcome, began_ms FROM results WHERE plan_name = ?"
        " ORDER BY number DESC LIMIT ?",
        (name, NEWEST),
    ).fetchall()
    outcomes: dict[str, int] = {}
    for row in rows:
        outcomes[row["outcome"]] = outcomes.get(row["outcome"], 0) + 1
    return {
        "results": count,
        "looked_at": len(rows),
        "outcomes": outcomes,
        "agents": len({row["agent"] for row in rows}),
        "last_ms": max((row["began_ms"] for row in rows), default=None),
    }
