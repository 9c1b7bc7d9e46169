"""Results as files for other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mptcplab.server import intake
from mptcplab.server.addresses import without_addresses
from mptcplab.server.store import agents, figures, results
from mptcplab.server.store.connection import reading
from mptcplab.server.store.database import Connection
from mptcplab.server.summary import summary
from mptcplab.server.wanted import Wanted, every

KINDS = ("csv", "parquet")
SUMMARIES = "summaries"


class ExportError(Exception):
    """A folder that cannot be written; the text names it."""


def export(
    connection: Connection,
    folder: Path,
    kind: str,
    wanted: Wanted,
    *,
    addresses: bool = True,
) -> int:
    """Writes `summaries/ID.json` for each result, and `figures.csv` or `.parquet`.

    Says how many of those wanted there are. Without `addresses` summaries have numbers in their
    place; the table has none.

    Raises:
        ExportError: the kind is none, or a file is there or cannot be written.

    """
    if kind not in KINDS:
        raise ExportError(f"--table {kind}: csv or parquet")
    table = folder / f"figures.{kind}"
    if table.exists():
        raise ExportError(f"{table}: it is there: name another folder")
    count = 0
    rows: list[dict[str, Any]] = []
    try:
        (folder / SUMMARIES).mkdir(parents=True, exist_ok=True)
        with reading(connection):
            names = {agent["id"]: agent["name"] for agent in agents.listed(connection)}
            for result in every(connection, wanted):
                count += 1
                _write_summary(connection, folder, result["id"], addresses=addresses)
                common = _common(result, names[result["agent"]])
                rows += [common | row for row in figures.of_result(connection, result["number"])]
        _write_table(rows, table)
    except OSError as error:
        raise ExportError(f"{error.filename or folder}: {error.strerror}") from None
    return count


def _write_summary(connection: Connection, folder: Path, own: str, *, addresses: bool) -> None:
    content = results.content(connection, own)
    assert content is not None
    told = summary(intake.read_kept(content)[0])
    told = told if addresses else without_addresses(told)
    # An id is a UUID, and no path.
    (folder / SUMMARIES / f"{own}.json").write_text(
        json.dumps(told, indent=1, allow_nan=False) + "\n", encoding="utf-8"
    )


_COMMON = ("plan", "congestion_control", "sequence", "began_ms", "outcome", "starved")


def _common(result: dict[str, Any], name: str) -> dict[str, Any]:
    return {"result": result["id"], "agent": result["agent"], "agent_name": name} | {
        key: result[key] for key in _COMMON
    }


def _write_table(rows: list[dict[str, Any]], file: Path) -> None:
    import polars

    schema = {
        "result": polars.String,
        "agent": polars.String,
        "agent_name": polars.String,
        "plan": polars.String,
        "congestion_control": polars.String,
        "sequence": polars.Int64,
        "began_ms": polars.Int64,
        "outcome": polars.String,
        "starved": polars.Boolean,
        "metric": polars.String,
        "direction": polars.String,
        "size_bytes": polars.Int64,
        "path": polars.Int64,
        "interface": polars.String,
        "mean": polars.Float64,
        "low": polars.Float64,
        "high": polars.Float64,
        "samples": polars.Int64,
    }
    table = polars.DataFrame(rows, schema=schema)
    if file.suffix == ".parquet":
        table.write_parquet(file)
    else:
        table.write_csv(file)
