"""The analysis for programs; every key is described in ``docs/trace.md``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from mptcplab.trace.views import View
from mptcplab.trace.words import key

WIDE = {"client_key", "server_key", "client_idsn", "server_idsn"}
"""Columns of 64 bits, more than the numbers of many readers hold: hexadecimal texts."""


SLICE = 200
"""Connections that are in memory as objects at a time."""


def to_json(view: View, *, statistics: bool = False, pair: Mapping[str, Any] | None = None) -> Any:
    """Returns the chosen connections as an object of JSON: what is not known is null.

    `statistics` adds the series of each subflow; round trips are among them where the trace has
    packets. `pair` is what the captures of both ends tell together.
    """
    found = _head(view) | {"connections": list(_connections(view, statistics=statistics))}
    return found if pair is None else found | {"pair": dict(pair)}


def json_lines(
    view: View, *, statistics: bool = False, pair: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Returns the same as text, line by line: a line for each key, and for each connection.

    Thousands of connections are never held as objects together.
    """
    yield "{"
    for name, value in _head(view).items():
        yield f"{_text(name)}: {_text(value)},"
    yield '"connections": ['
    line = ""
    for connection in _connections(view, statistics=statistics):
        if line:
            yield f"{line},"
        line = _text(connection)
    if line:
        yield line
    yield "]" if pair is None else "],"
    if pair is not None:
        yield f'"pair": {_text(pair)}'
    yield "}"


def _text(value: Any) -> str:
    """JSON of printable ASCII alone, which no terminal needs to be saved from."""
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")


def _head(view: View) -> dict[str, Any]:
    capture = view.trace.capture
    return dict(capture.as_read) | {
        "first_ns": capture.first_ns,
        "last_ns": capture.last_ns,
        "range": {"from_ns": view.span.from_ns, "to_ns": view.span.to_ns} if view.span else None,
        "left_out": view.trace.connections.height - view.connections.height,
    }


def _connections(view: View, *, statistics: bool) -> Iterator[dict[str, Any]]:
    tables = {
        "subflows": view.subflows,
        "addresses": view.addresses,
        "events": view.events,
        "handovers": view.handovers,
    }
    figures = _figures(view) if statistics else {}
    if statistics and view.trace.has_packets:
        from mptcplab.trace.directions import data_directions

        tables["directions"] = data_directions(view.numbered_packets)
    for rows in view.connections.iter_slices(SLICE):
        chosen = pl.col("connection").is_in(rows["connection"].implode())
        parts = {name: _grouped(frame.filter(chosen)) for name, frame in tables.items()}
        series = _series({name: frame.filter(chosen) for name, frame in figures.items()})
        for row in rows.iter_rows(named=True):
            yield _connection(row, parts, series)


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
                name: [_plain(one, leave={"connection"}) for one in rows]
                for name, rows in own.items()
                if name != "subflows"
            },
        }
    )


def intervals(subflows: Iterable[Mapping[str, Any]]) -> list[dict[str, int]]:
    """Returns the time between the starts of successive subflows, and of first and last.

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


def _figures(view: View) -> dict[str, pl.DataFrame]:
    """Series of all subflows over time and over sequence numbers."""
    from mptcplab.trace.directions import directions
    from mptcplab.trace.figures import cumulative, rtt_by_sequence

    figures = {"samples": view.samples, "cumulative": cumulative(view.samples)}
    if view.trace.has_packets:
        figures["rtt_by_sequence"] = rtt_by_sequence(view.packets)
        figures["directions"] = directions(view.numbered_packets)
    return figures


def _series(figures: Mapping[str, pl.DataFrame]) -> dict[tuple[int, int], dict[str, Any]]:
    """Returns the same as objects, by connection and subflow."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for name, frame in figures.items():
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
