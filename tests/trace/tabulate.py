"""The tables of an analysis of a world, as a capture at one end shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
from tests.trace.stories import everything
from tests.trace.world import (
    CLIENT_KEY,
    CLIENT_TOKEN,
    MS,
    SERVER_KEY,
    SERVER_TOKEN,
    START_NS,
    Packet,
    World,
)

from mptcplab.tables.schema import Kind, Table
from mptcplab.trace.tables import TABLES

Row = dict[str, Any]
Clock = Callable[[int], int]
HEADERS = 52
BIN_NS = 100 * MS
COPIED = (
    "connection",
    "subflow",
    "flags",
    "kind",
    "sequence",
    "acknowledgement",
    "payload_bytes",
    "new_bytes",
    "newly_acknowledged_bytes",
    "in_flight_bytes",
    "rtt_ns",
    "mptcp",
    "data_sequence",
    "identification",
    "data_acknowledgement",
    "new_data_bytes",
    "reinjected_bytes",
    "reinjected_from",
)
ENDS = {0: "data_fin", 1: "fast_close", 2: "fin"}


def exact(true_ns: int) -> int:
    """A clock that is right."""
    return true_ns


def write(
    folder: Path,
    world: World | None = None,
    end: str = "server",
    clock: Clock = exact,
    *,
    packets: bool = True,
    **capture: object,
) -> Path:
    """Writes all tables, seen from `end`, whose clock reads what `clock` says."""
    world = world or everything()
    folder.mkdir(parents=True, exist_ok=True)
    rows = seen(world, end, clock)
    tables = {
        "connections": [_connection(number, own) for number, own in _by(rows, "connection")],
        "subflows": [_subflow(own, rows) for _, own in _by(rows, "connection", "subflow")],
        "addresses": list(_addresses(rows)),
        "samples": list(_samples(rows)),
        "events": _events(world, clock),
    }
    if packets:
        tables |= {"packets": rows, "mappings": list(_mappings(rows))}
    for name, content in tables.items():
        put(folder, TABLES[name], content)
    described: Row = {
        "files": [
            {
                "path": "both.pcapng",
                "format": "pcapng",
                "compression": None,
                "bytes": 4_000_000,
                "frames": len(rows) + 3,
                "first_ns": rows[0]["t_ns"],
                "last_ns": rows[-1]["t_ns"],
                "damage": None,
            }
            | dict(capture.pop("file", {}))  # type: ignore[call-overload]
        ],
        "interfaces": [{"interface": 0, "file": 0, "name": "wifi", "link_type": 1}],
        "interrupted": False,
        "frames": len(rows) + 3,
        "segments": len(rows),
        "skipped": {"arp": 2, "udp": 1},
        "duplicates": 0,
    }
    (folder / "capture.json").write_text(json.dumps(described | capture))
    return folder


def put(folder: Path, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a table; what a row does not have is 0, no or, where it may be, null."""
    filled = [
        {
            column.name: row.get(column.name, None if column.optional else _ZERO[column.kind])
            for column in table.columns
        }
        for row in rows
    ]
    pl.DataFrame(filled, schema=table.schema).write_parquet(folder / f"{table.name}.parquet")


_ZERO = {Kind.INTEGER: 0, Kind.WIDE: 0, Kind.NUMBER: 0.0, Kind.TEXT: "", Kind.FLAG: False}


def seen(world: World, end: str, clock: Clock) -> list[Row]:
    """The packets in the order in which they pass at `end`."""
    rows = []
    for packet in world.packets:
        passed = packet.sent_ns if packet.sender == end else packet.came_ns
        if passed is not None:
            rows.append(_row(packet, clock(passed)))
    rows.sort(key=lambda row: row["t_ns"])
    for number, row in enumerate(rows, start=1):
        row["frame"] = number
    return rows


def _row(packet: Packet, t_ns: int) -> Row:
    answer = packet.acknowledgement
    return {name: getattr(packet, name) for name in COPIED} | {
        "from": packet.sender,
        "t_ns": t_ns,
        "raw_sequence": (packet.sequence + 1000 * (packet.subflow + 1)) % 2**32,
        "raw_acknowledgement": None if answer is None else (answer + 7) % 2**32,
        "packet_bytes": packet.payload_bytes + HEADERS,
        "window_bytes": 65_536 if packet.sender == "server" else 250_000,
        "rtt_method": None if packet.rtt_ns is None else "timestamp",
        "path": packet.path,
    }


def _by(rows: list[Row], *keys: str) -> list[tuple[Any, list[Row]]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in keys)
        groups.setdefault(key[0] if len(keys) == 1 else key, []).append(row)
    return sorted(groups.items())


def _endpoints(row: Row) -> Row:
    path = row["path"]
    return {
        "client_address": path.client[0],
        "client_port": path.client[1],
        "server_address": path.server[0],
        "server_port": path.server[1],
    }


def _connection(number: int, rows: list[Row]) -> Row:
    mptcp = number != 2
    found: Row = _endpoints(rows[0]) | {
        "connection": number,
        "protocol": "mptcp" if mptcp else "tcp",
        "version": 1 if mptcp else None,
        "start_ns": rows[0]["t_ns"],
        "end_ns": rows[-1]["t_ns"],
        "end": ENDS[number],
        "subflows": len({row["subflow"] for row in rows}),
        "packets": len(rows),
    }
    if mptcp:
        found |= {
            "client_token": CLIENT_TOKEN,
            "server_token": SERVER_TOKEN,
            "client_key": CLIENT_KEY,
            "server_key": SERVER_KEY,
            "client_idsn": 1,
            "server_idsn": 2**63 + 5,
            "checksums": False,
        }
    for end in ("client", "server"):
        own = [row for row in rows if row["from"] == end]
        fresh = [row["t_ns"] for row in own if row["new_data_bytes"]]
        gaps = [(b - a, a) for a, b in pairwise(fresh)]
        found |= {
            f"{end}_bytes": sum(row["new_data_bytes"] for row in own),
            f"{end}_packets": len(own),
            f"{end}_payload_bytes": sum(row["payload_bytes"] for row in own),
            f"{end}_reinjected_bytes": sum(row["reinjected_bytes"] for row in own),
            f"{end}_first_data_ns": min(fresh, default=None),
            f"{end}_last_data_ns": max(fresh, default=None),
            f"{end}_silence_ns": max(gaps)[0] if gaps else None,
            f"{end}_silence_at_ns": max(gaps)[1] if gaps else None,
        }
    return found


def _subflow(rows: list[Row], every: list[Row]) -> Row:
    number = rows[0]["subflow"]
    path = rows[0]["path"]
    found: Row = _endpoints(rows[0]) | {
        "connection": rows[0]["connection"],
        "subflow": number,
        "origin": "join" if number else "initial",
        "opener": "client",
        "announced": number == 2,
        "client_address_id": path.address_ids[0],
        "server_address_id": path.address_ids[1],
        "client_backup": number == 1 if rows[0]["connection"] == 0 else False,
        "server_backup": False,
        "priority_changes": int(number == 1),
        "hmac_valid": True if number else None,
        "start_ns": rows[0]["t_ns"],
        "established_ns": rows[min(2, len(rows) - 1)]["t_ns"],
        "handshake_rtt_ns": 2 * path.delay_ns,
        "end_ns": rows[-1]["t_ns"],
        "end": "silent" if (rows[0]["connection"], number) == (0, 0) else "fin",
    }
    for end in ("client", "server"):
        own = [row for row in rows if row["from"] == end]
        other = [row for row in rows if row["from"] != end]
        rtt = [row["rtt_ns"] for row in other if row["rtt_ns"]]
        whole = sum(
            row["payload_bytes"]
            for row in every
            if row["connection"] == rows[0]["connection"] and row["from"] == end
        )
        payload = sum(row["payload_bytes"] for row in own)
        fast = sum(row["kind"] == "fast_retransmission" for row in own)
        late = sum(row["kind"] == "timeout_retransmission" for row in own)
        found |= {
            f"{end}_packets": len(own),
            f"{end}_payload_bytes": payload,
            f"{end}_bytes": sum(row["new_bytes"] for row in own),
            f"{end}_share": payload / whole if whole else 0.0,
            f"{end}_retransmissions": fast + late,
            f"{end}_fast_retransmissions": fast,
            f"{end}_timeout_retransmissions": late,
            f"{end}_rtt_samples": len(rtt),
            f"{end}_rtt_min_ns": min(rtt, default=None),
            f"{end}_rtt_mean_ns": sum(rtt) // len(rtt) if rtt else None,
            f"{end}_rtt_max_ns": max(rtt, default=None),
            f"{end}_in_flight_max_bytes": max((r["in_flight_bytes"] for r in own), default=0),
            f"{end}_reinjected_bytes": sum(row["reinjected_bytes"] for row in own),
        }
    return found


def _addresses(rows: list[Row]) -> Iterable[Row]:
    for (number, end), own in _by(rows, "connection", "from"):
        groups: dict[str, list[Row]] = {}
        for row in own:
            groups.setdefault(getattr(row["path"], end)[0], []).append(row)
        for address, sent in groups.items():
            length = max(1, sent[-1]["t_ns"] - sent[0]["t_ns"])
            yield {
                "connection": number,
                "address": address,
                "end": end,
                "packets": len(sent),
                "bytes": sum(row["packet_bytes"] for row in sent),
                "share": len(sent) / len(own),
                "first_ns": sent[0]["t_ns"],
                "last_ns": sent[-1]["t_ns"],
                "packets_per_ms": len(sent) / (length / 1e6),
                "burst_packets_per_ms": 1.5 * len(sent) / (length / 1e6),
                "burst_start_ns": sent[0]["t_ns"],
            }


def _samples(rows: list[Row]) -> Iterable[Row]:
    first = rows[0]["t_ns"]
    for row in rows:
        row["bin"] = (row["t_ns"] - first) // BIN_NS
    for (connection, subflow, end, place), own in _by(rows, "connection", "subflow", "from", "bin"):
        answers = [
            row["rtt_ns"]
            for row in rows
            if row["rtt_ns"]
            and (row["connection"], row["subflow"], row["bin"]) == (connection, subflow, place)
            and row["from"] != end
        ]
        yield {
            "connection": connection,
            "subflow": subflow,
            "from": end,
            "t_ns": first + place * BIN_NS,
            "packets": len(own),
            "payload_bytes": sum(row["payload_bytes"] for row in own),
            "new_bytes": sum(row["new_bytes"] for row in own),
            "retransmissions": sum("retransmission" in row["kind"] for row in own),
            "rtt_min_ns": min(answers, default=None),
            "rtt_mean_ns": sum(answers) // len(answers) if answers else None,
            "rtt_max_ns": max(answers, default=None),
            "in_flight_bytes": own[-1]["in_flight_bytes"],
            "window_bytes": 250_000 if end == "server" else 65_536,
            "new_data_bytes": sum(row["new_data_bytes"] for row in own),
            "reinjected_bytes": sum(row["reinjected_bytes"] for row in own),
        }


def _events(world: World, clock: Clock) -> list[Row]:
    return [
        {
            "connection": event.connection,
            "subflow": event.subflow,
            "from": event.sender,
            "t_ns": clock(event.t_ns),
            "frame": 1 + (event.t_ns - START_NS) // MS,
            "kind": event.kind,
            "text": event.text,
        }
        for event in sorted(world.events, key=lambda event: event.t_ns)
    ]


def _mappings(rows: list[Row]) -> Iterable[Row]:
    for row in rows:
        if row["data_sequence"] is not None:
            yield row | {
                "raw_data_sequence": 2**63 + 5 + row["data_sequence"],
                "data_sequence_bytes": 8,
                "subflow_sequence": row["sequence"],
                "bytes": row["payload_bytes"],
            }
