"""Figures of results: what charts and tables are drawn from."""

from __future__ import annotations

from typing import Any

from mptcplab.server.figure_rows import Metric
from mptcplab.server.store.database import Connection

MOST_POINTS = 20_000


def series(
    connection: Connection,
    agent: str,
    metric: Metric,
    *,
    begin_ms: int,
    end_ms: int,
    direction: str = "",
    size_bytes: int | None = None,
) -> list[dict[str, Any]]:
    """A figure of an agent over time, the oldest first, for each path and size.

    Of results that began in [`begin_ms`, `end_ms`): `result` (its id), `began_ms`, `starved`,
    `size_bytes`, `path`, `interface`, `mean`, `low`, `high`, `samples`. `direction` is empty for
    round-trip times. At most `MOST_POINTS`.
    """
    rows = connection.execute(
        "SELECT r.id AS result, r.began_ms, r.starved, f.size_bytes, f.path, f.interface,"
        " f.mean, f.low, f.high, f.samples"
        " FROM results AS r JOIN figures AS f ON f.result = r.number"
        " WHERE r.agent = ? AND r.began_ms >= ? AND r.began_ms < ?"
        " AND f.metric = ? AND f.direction = ? AND (CAST(? AS BIGINT) IS NULL OR f.size_bytes = ?)"
        " ORDER BY r.began_ms, r.number, f.size_bytes, f.path LIMIT ?",
        (
            agent,
            begin_ms,
            end_ms,
            metric.value,
            direction,
            size_bytes,
            size_bytes,
            MOST_POINTS,
        ),
    )
    return [dict(row) | {"starved": bool(row["starved"])} for row in rows]


def of_result(connection: Connection, number: int) -> list[dict[str, Any]]:
    """All figures of a result, by its number."""
    rows = connection.execute(
        "SELECT metric, direction, size_bytes, path, interface, mean, low, high, samples"
        " FROM figures WHERE result = ? ORDER BY metric, direction, size_bytes, path",
        (number,),
    )
    return [dict(row) for row in rows]
