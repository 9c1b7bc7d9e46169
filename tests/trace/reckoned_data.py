"""The segments of a capture as MPTCP sees them, reckoned from the options as tshark shows them.

The keys of every connection and the SYNs of every subflow must be in the capture, and no
connection may send 4 GiB.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.trace.handmade.keys import initial_sequence, token
from tests.trace.intervals import Range, Ranges, size
from tests.trace.shark import Row

_CAPABLE = re.compile(r"MP_CAPABLE v(\d)(?: flags=\w+)?(?: key=(0x\w+))?(?: peer_key=(0x\w+))?")
_JOIN = re.compile(r"MP_JOIN .*token=(0x\w+)")
_MAPPING = re.compile(r"DSS( fin)?.* dsn=(\d+) dsn_bytes=(\d) ssn=(\d+) len=(\d+)")
_ACKNOWLEDGED = re.compile(r"DSS(?: fin)? ack=(\d+) ack_bytes=(\d)")


Mappings = dict[int, tuple[int, int]]
"""Of one end: by subflow sequence number, the length and the relative data sequence number."""


@dataclass
class Connection:
    """A connection of MPTCP: what is known of its ends (client's first) and what they sent."""

    number: int
    version: int
    keys: list[int | None] = field(default_factory=lambda: [None, None])
    streams: list[int] = field(default_factory=list)
    sent: tuple[dict[int, Ranges], dict[int, Ranges]] = field(
        default_factory=lambda: (defaultdict(Ranges), defaultdict(Ranges))
    )
    """The data of each end on each of its streams."""
    over: bool = False
    """It goes on as TCP: nothing is told of its data from here on."""

    def token(self, end: int) -> int | None:
        key = self.keys[end]
        return None if key is None else token(self.version, key)

    def initial(self, end: int) -> int | None:
        key = self.keys[end]
        return None if key is None else initial_sequence(self.version, key)


@dataclass
class _Flow:
    connection: Connection
    client: str
    """Address and port of the connection's client on this subflow."""
    opener: str
    """Which end of the connection opened the subflow."""
    subflow: int
    segments: dict[int, Ranges] = field(default_factory=lambda: defaultdict(Ranges))
    mappings: dict[int, Mappings] = field(default_factory=lambda: defaultdict(dict))
    after_data_fin: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Subflow sequence numbers that follow the data of mappings with a DATA_FIN."""


def reckon(rows: list[Row]) -> list[dict[str, Any]]:
    """For each segment of MPTCP: `connection`, `subflow`, `from` and what it is to the data."""
    flows: dict[int, _Flow] = {}
    connections: list[Connection] = []
    return [_reckon(flows, connections, row) for row in rows]


def _reckon(flows: dict[int, _Flow], connections: list[Connection], row: Row) -> dict[str, Any]:
    text = row["mptcp"] or ""
    if row["stream"] not in flows and row["flags"] == "S":
        _open(flows, connections, row, text)
    flow = flows.get(row["stream"])
    if flow is None:
        return {"frame": row["frame"]}
    end = int(row["source"] != flow.client)
    known = flow.connection
    if shown := _CAPABLE.match(text):
        known.keys[end] = int(shown[2], 16) if shown[2] else known.keys[end]
        known.keys[1 - end] = int(shown[3], 16) if shown[3] else known.keys[1 - end]
    return {
        "frame": row["frame"],
        "connection": known.number,
        "subflow": flow.subflow,
        "from": "server" if end else "client",
        "opener": flow.opener,
        **_data(flow, end, row, text),
    }


def _open(flows: dict[int, _Flow], connections: list[Connection], row: Row, text: str) -> None:
    """A SYN: of a connection, or of a subflow by the token of its other end."""
    if shown := _CAPABLE.match(text):
        made = Connection(len(connections), int(shown[1]), streams=[row["stream"]])
        connections.append(made)
        flows[row["stream"]] = _Flow(made, row["source"], "client", 0)
    elif shown := _JOIN.match(text):
        wanted = int(shown[1], 16)
        for known in connections:
            for end in (0, 1):
                if known.token(end) == wanted:
                    client = row["source"] if end else row["destination"]
                    opener = "client" if end else "server"
                    flows[row["stream"]] = _Flow(known, client, opener, len(known.streams))
                    known.streams.append(row["stream"])


def _data(flow: _Flow, end: int, row: Row, text: str) -> dict[str, Any]:
    known, mappings = flow.connection, flow.mappings[end]
    initial, length = known.initial(end), row["payload_bytes"]
    if (shown := _MAPPING.search(text)) and initial is not None:
        mapped = int(shown[5]) - bool(shown[1])
        known.over |= int(shown[5]) == 0
        number = _relative(shown[2], shown[3], initial)
        mappings.setdefault(int(shown[4]), (mapped, number))
        if shown[1] and mapped:
            flow.after_data_fin[end].add(int(shown[4]) + mapped)
    elif text.startswith("MP_CAPABLE") and length:
        mappings.setdefault(1, (length, 1))
    start = row["sequence"]
    fresh = flow.segments[end].add(start, start + length)
    first = _mapping(mappings, start) if length else None
    known.over |= bool(length) and first is None
    if known.over:
        return {}
    new = reinjected = 0
    sent, stream = known.sent[end], row["stream"]
    for part in _parts(mappings, fresh):
        anywhere, elsewhere = Ranges(), Ranges()
        for other, ranges in sent.items():
            for held in ranges.parts:
                anywhere.add(*held)
                if other != stream:
                    elsewhere.add(*held)
        new += size(anywhere.missing(*part))
        reinjected += part[1] - part[0] - size(elsewhere.missing(*part))
        sent[stream].add(*part)
    return {
        "data_sequence": first[1] if first else None,
        "data_acknowledgement": _acknowledged(text, known.initial(1 - end)),
        "new_data_bytes": new,
        "reinjected_bytes": reinjected,
        "after_data_fin": start in flow.after_data_fin[end],
    }


def _mapping(mappings: Mappings, at: int) -> tuple[int, int] | None:
    """Where the mapping of a byte of the subflow ends, and the byte's data sequence number."""
    if at in mappings and mappings[at][0]:
        length, number = mappings[at]
        return at + length, number
    for sequence, (length, number) in mappings.items():
        if sequence <= at < sequence + length:
            return sequence + length, number + at - sequence
    return None


def _parts(mappings: Mappings, fresh: list[Range]) -> Iterator[Range]:
    """The data sequence numbers of what is mapped of ranges of the subflow."""
    for low, high in fresh:
        at = low
        while at < high:
            found = _mapping(mappings, at)
            if found is None:
                at = min([high, *(start for start in mappings if start > at)])
            else:
                end = min(high, found[0])
                yield found[1], found[1] + end - at
                at = end


def _relative(number: str, width: str, initial: int) -> int:
    return (int(number) - initial) % (1 << 8 * int(width))


def _acknowledged(text: str, initial: int | None) -> int | None:
    shown = _ACKNOWLEDGED.search(text)
    return _relative(shown[1], shown[2], initial) if shown and initial is not None else None
