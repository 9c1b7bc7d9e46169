"""The analysis for programs; every key is described in ``docs/trace.md``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from mptcplab.trace.views import View
from mptcplab.trace.words import key

WIDE = {"client_key", "server_key", "client_idsn", "server_idsn"}
"""Columns of 64 bits, more than the numbers of many readers hold: hexadecimal texts."""


def to_json(view: View, *, statistics: bool = False, pair: Mapping[str, Any] | None = None) -> Any:
    """The chosen connections as an object of JSON: what is not known is null.

    `statistics` adds the series of each subflow; round trips are among them where the trace has
    packets. `pair` is what the captures of both ends tell together.
    """
    capture = view.trace.capture
    parts = {
        name: _grouped(frame)
        for name, frame in (
            ("subflows", view.subflows),
            ("addresses", view.addresses),
            ("events", view.events),
            ("handovers", view.handovers),
        )
    }
    series = _series(view) if statistics else {}
    found = dict(capture.as_read) | {
        "first_ns": capture.first_ns,
        "last_ns": capture.last_ns,
        "range": {"from_ns": view.span.from_ns, "to_ns": view.span.to_ns} if view.span else None,
        "left_out": view.trace.connections.height - view.connections.height,
        "connections": [
            _connection(row, parts, series) for row in view.connections.iter_rows(named=True)
        ],
    }
    return found if pair is None else found | {"pair": dict(pair)}


def _connection(
    row: Mapping[str, Any],
    parts: Mapping[str, Mapping[int, list[dict[str, Any]]]],
    series: Mapping[tuple[int, int], dict[str, Any]],
) -> dict[str, Any]:
    number = row["connection"]
    own = {name: rows.get(number, []) for name, rows in parts.items()}
    subflows = [
        {"id": subflow["subflow"]}
        | _plain(subflow, leave={"connection", "subflow"})
        | series.get((number, subflow["subflow"]), {})
        for subflow in own["subflows"]
    ]
    return (
        {"id": number}
        | _plain(row, leave={"connection", "subflows"})
        | {
            "subflows": subflows,
            "intervals": intervals(own["subflows"]),
            **{
                name: [_plain(one, leave={"connection"}) for one in own[name]]
                for name in ("addresses", "events", "handovers")
            },
        }
    )


def intervals(subflows: Iterable[Mapping[str, Any]]) -> list[dict[str, int]]:
    """Time between the starts of every two subflows that follow each other, and of first and last.

    That is what the connected-car page lists as 1–2, 2–3 and 1–3.
    """
    rows = list(subflows)
    pairs = list(pairwise(rows))
    if len(rows) > 2:
        pairs.append((rows[0], rows[-1]))
    return [
        {
            "from_subflow": first["subflow"],
            "to_subflow": second["subflow"],
            "interval_ns": second["start_ns"] - first["start_ns"],
        }
        for first, second in pairs
    ]


def _series(view: View) -> dict[tuple[int, int], dict[str, Any]]:
    """Series of each subflow over time and over sequence numbers."""
    from mptcplab.trace.figures import cumulative, rtt_by_sequence

    tables = {
        "samples": view.samples,
        "cumulative": cumulative(view.samples),
    }
    if view.trace.has_packets:
        tables["rtt_by_sequence"] = rtt_by_sequence(view.packets)
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for name, frame in tables.items():
        for (number, subflow), rows in frame.group_by(
            ["connection", "subflow"], maintain_order=True
        ):
            own = found.setdefault((int(str(number)), int(str(subflow))), {})
            own[name] = [
                _plain(row, leave={"connection", "subflow"}) for row in rows.iter_rows(named=True)
            ]
    return found


def _grouped(frame: pl.DataFrame) -> dict[int, list[dict[str, Any]]]:
    groups: dict[int, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        groups.setdefault(row["connection"], []).append(row)
    return groups


def _plain(row: Mapping[str, Any], leave: set[str]) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in row.items() if name not in leave}


def _value(name: str, value: Any) -> Any:
    if name in WIDE:
        return key(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
