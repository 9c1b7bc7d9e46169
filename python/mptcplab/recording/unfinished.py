"""Transfers of a run that was killed: what their receivers had got until then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mptcplab.recording.tables import TRANSFERS

Row = Mapping[str, Any]

BIN_NS = 10_000_000
"""Width of a bin of `deliveries`."""
ERROR = "the run ended before it"
_KINDS = ("bulk", "http", "ftp", "request_response", "stream")
_AT_ONCE = ("bulk", "request_response", "stream")
"""Kinds of which every transfer begins with the flow, and not after the one before."""


def unfinished_transfers(tables: Mapping[str, Sequence[Row]], plan: Row) -> Iterator[Row]:
    """A row of `transfers` for each that has deliveries but no row yet.

    A row is written when its transfer ends. What only its end tells is null.
    """
    ended = {_key(row) for row in tables.get("transfers", ())}
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in tables.get("deliveries", ()):
        if _key(row) not in ended:
            found.setdefault(_key(row), []).append(row)
    flows = {item["name"]: item for item in plan.get("traffic", ())}
    nodes = [node["name"] for node in plan.get("nodes", ())]
    for (name, index, way), bins in found.items():
        flow = flows.get(name)
        if flow is None or flow["workload"]["kind"] not in _KINDS:
            continue
        kind = flow["workload"]["kind"]
        joins = sum(_key(row) == (name, index, way) for row in tables.get("joins", ()))
        first_ns = min(row["t_ns"] for row in bins)
        known = {
            "traffic": name,
            "kind": kind,
            "index": index,
            "client": nodes[flow["client"]],
            "server": nodes[flow["server"]],
            "way": way,
            "protocol": flow["protocol"],
            "start_ns": flow["start_ns"] if index == 0 or kind in _AT_ONCE else first_ns,
            "first_byte_ns": first_ns,
            "end_ns": max(row["t_ns"] for row in bins) + BIN_NS,
            "bytes": sum(row["bytes"] for row in bins),
            "joins": joins or None,
            "error": ERROR,
        }
        yield {column: known.get(column) for column in TRANSFERS.schema}


def _key(row: Row) -> tuple[Any, ...]:
    return row["traffic"], row["index"], row["way"]
