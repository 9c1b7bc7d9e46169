"""Captures of any size, made by arithmetic: the same bytes for the same `Shape`.

Each connection has two subflows. The server sends: two segments over one subflow, acknowledged at
both levels, then two over the other. Every 64th pair has a retransmission. Connections take turns.
Checksums of IP and TCP are right; the HMACs of the joins are not.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

_PAYLOAD = bytes(range(256)) * 5 + bytes(144)
"""1424 bytes: with timestamps and 24 bytes of DSS a packet of 1500."""
_PAIRS = 64
"""Pairs of segments between two retransmissions."""
_AT_ONCE_BYTES = 16_000_000
"""Captured bytes that are made before they are written."""
_STEP_NS = 10_000
_START_NS = 1_700_000_000_000_000_000
_SERVER = bytes([10, 128, 0, 1])
_PORT = 5001
_NETWORK_BYTES = 14
_NUMBERS = {2: ">u2", 4: ">u4", 8: ">u8"}
Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Shape:
    """The shape of a capture that is to be made."""

    packets: int
    """At least so many, handshakes aside."""
    connections: int = 1
    full: bool = False
    """With all of the payload; else the headers only."""
    format: str = "pcap"
    version: int = 1
    """Of MPTCP; version 0 with numbers of 4 bytes."""

    @property
    def name(self) -> str:
        what = "full" if self.full else "headers"
        return f"v{self.version}-{what}-{self.connections}-{self.packets}.{self.format}"


def make(folder: Path, shape: Shape) -> Path:
    """The capture's file; made unless it is there."""
    file = folder / shape.name
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        with part.open("wb") as out:
            for piece in _pieces(shape):
                out.write(piece)
        part.rename(file)
    return file


def _pieces(shape: Shape) -> Iterator[bytes]:
    yield _head(shape)
    at_ns = _START_NS
    for connection in range(shape.connections):
        for frame in _handshakes(shape, connection):
            yield _record(shape, at_ns, frame)
            at_ns += _STEP_NS
    slots = _slots()
    rounds = -(-shape.packets // len(slots))
    packet_bytes = 1100 if shape.full else 110
    at_once = _AT_ONCE_BYTES // (packet_bytes * len(slots))
    for first in range(0, rounds, at_once):
        numbers = np.arange(first, min(first + at_once, rounds), dtype=np.uint64)
        parts = [
            slot.records(shape, numbers, np.uint64(at_ns + place * _STEP_NS), len(slots))
            for place, slot in enumerate(slots)
        ]
        yield np.concatenate(parts, axis=1).tobytes()


def _head(shape: Shape) -> bytes:
    if shape.format == "pcap":
        return struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1)
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    nanoseconds = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
    body = struct.pack("<HHI", 1, 0, 262_144) + nanoseconds
    length = struct.pack("<I", 12 + len(body))
    return section + struct.pack("<I", 1) + length + body + length


def _record(shape: Shape, at_ns: int, frame: bytes, keep: int | None = None) -> bytes:
    kept = frame[:keep]
    if shape.format == "pcap":
        seconds, rest = divmod(at_ns, 1_000_000_000)
        return struct.pack("<IIII", seconds, rest, len(kept), len(frame)) + kept
    padded = kept + b"\0" * (-len(kept) % 4)
    length = 32 + len(padded)
    times = at_ns >> 32, at_ns & 0xFFFFFFFF
    head = struct.pack("<IIIIIII", 6, length, 0, *times, len(kept), len(frame))
    return head + padded + struct.pack("<I", length)


def _fold(total: int) -> int:
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _words(data: bytes) -> int:
    return sum(word for (word,) in struct.iter_unpack(">H", data))


def _frame(
    ends: tuple[bytes, bytes],
    ports: tuple[int, int],
    numbers: tuple[int, int],
    flags: int,
    options: bytes,
    payload: bytes = b"",
) -> bytes:
    """Ethernet, IPv4 and TCP, from `ends[0]` to `ends[1]`."""
    tcp = struct.pack(
        ">HHIIBBHHH", *ports, *numbers, (20 + len(options)) // 4 << 4, flags, 5000, 0, 0
    )
    tcp += options + payload
    total = _fold(_words(ends[0] + ends[1] + tcp) + 6 + len(tcp))
    tcp = tcp[:16] + struct.pack(">H", 0xFFFF - total) + tcp[18:]
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, *ends)
    ip = ip[:10] + struct.pack(">H", 0xFFFF - _fold(_words(ip))) + ip[12:]
    return bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]) + b"\x08\x00" + ip + tcp


def _key(connection: int, server: bool) -> int:
    return 0x1111_2222_0000_0001 * (2 * connection + server + 1) % 2**64


def _hash(shape: Shape, key: int) -> bytes:
    digest = hashlib.sha256 if shape.version else hashlib.sha1
    return digest(struct.pack(">Q", key)).digest()


@cache
def _initial(shape: Shape, server: bool) -> Numbers:
    """Initial data sequence numbers of all connections."""
    keys = [_key(connection, server) for connection in range(shape.connections)]
    return np.array([int.from_bytes(_hash(shape, key)[-8:]) for key in keys], np.uint64)


def _client(connection: int, subflow: int) -> bytes:
    return bytes([10, subflow, connection >> 8, connection & 255])


def _client_port(connection: int, subflow: int) -> int:
    return 40_000 + 2 * (connection % 10_000) + subflow


_CLIENT_INITIAL, _SERVER_INITIAL = 1_000_000, 4_000_000_000


def _handshakes(shape: Shape, connection: int) -> Iterator[bytes]:
    """The three segments with MP_CAPABLE and the four of a join."""
    first, second = (
        (_client(connection, subflow), _client_port(connection, subflow)) for subflow in (0, 1)
    )
    mine, theirs = (struct.pack(">Q", _key(connection, server)) for server in (False, True))

    def option(subtype: int, rest: bytes) -> bytes:
        whole = bytes([30, 3 + len(rest), subtype]) + rest
        return whole + b"\x01" * (-len(whole) % 4)

    def send(
        client: tuple[bytes, int], back: bool, flags: int, past: tuple[int, int], options: bytes
    ) -> bytes:
        ends, ports = (client[0], _SERVER), (client[1], _PORT)
        numbers = _CLIENT_INITIAL + past[0], _SERVER_INITIAL + past[1]
        if back:
            return _frame(ends[::-1], ports[::-1], numbers[::-1], flags, options)
        return _frame(ends, ports, (numbers[0], numbers[1] if flags & 16 else 0), flags, options)

    ordinary = bytes([2, 4, 0x05, 0xB4, 4, 2, 8, 10]) + struct.pack(">II", 1, 0)
    ordinary += bytes([1, 3, 3, 7])
    later = bytes([1, 1, 8, 10]) + struct.pack(">II", 1, 1)
    version = shape.version
    yield send(
        first,
        back=False,
        flags=2,
        past=(0, 0),
        options=ordinary + option(version, b"\x01" + mine * (not version)),
    )
    yield send(first, True, 18, (1, 0), ordinary + option(version, b"\x01" + theirs))
    yield send(first, False, 16, (1, 1), later + option(version, b"\x01" + mine + theirs))
    token = _hash(shape, _key(connection, server=True))[:4]
    yield send(second, False, 2, (0, 0), ordinary + option(0x10, b"\x01" + token + b"nonc"))
    yield send(second, True, 18, (1, 0), ordinary + option(0x10, b"\x02" + bytes(8) + b"once"))
    yield send(second, False, 16, (1, 1), later + option(0x10, b"\x00" + bytes(20)))
    acknowledged = int.from_bytes(_hash(shape, _key(connection, server=False))[-8:]) + 1
    number = (
        struct.pack(">Q", acknowledged % 2**64)
        if version
        else struct.pack(">I", acknowledged % 2**32)
    )
    yield send(
        second, True, 16, (1, 1), later + option(0x20, bytes([3 if version else 1]) + number)
    )


@dataclass(frozen=True)
class _Slot:
    """One packet of what is repeated."""

    pair: int
    part: int
    """First or second segment, or 2 for the acknowledgement."""

    def records(
        self, shape: Shape, rounds: Numbers, at_ns: np.uint64, packets_a_round: int
    ) -> Bytes:
        """Its records in each of `rounds`, a row each."""
        data, version = self.part < 2, shape.version
        template, fields = _template(data, version)
        keep = None if shape.full else len(template) - len(_PAYLOAD) * data
        at = at_ns + rounds * np.uint64(packets_a_round * _STEP_NS)
        one = _record(shape, 0, template, keep)
        rows = np.tile(np.frombuffer(one, np.uint8), (len(rounds), 1))
        start = 16 if shape.format == "pcap" else 28
        if shape.format == "pcap":
            _put(rows, 0, at // np.uint64(1_000_000_000), "<u4")
            _put(rows, 4, at % np.uint64(1_000_000_000), "<u4")
        else:
            _put(rows, 12, at >> np.uint64(32), "<u4")
            _put(rows, 16, at & np.uint64(0xFFFFFFFF), "<u4")
        kept = template[:keep]
        frames = rows[:, start : start + len(kept)]
        for name, values in self._numbers(shape, rounds).items():
            if name in fields:
                offset, width = fields[name]
                _put(frames, offset, values, _NUMBERS[width])
        header = len(template) - len(_PAYLOAD) * data
        _checksums(frames, header, len(template) - header)
        return rows

    def _numbers(self, shape: Shape, rounds: Numbers) -> dict[str, Numbers]:
        count = np.uint64(shape.connections)
        overall = rounds * np.uint64(_PAIRS) + np.uint64(self.pair)
        connection, turn = overall % count, overall // count
        subflow, behind = turn % np.uint64(2), turn // np.uint64(2)
        segment = np.uint64(len(_PAYLOAD))
        part = np.uint64(self.part)
        past = (behind * np.uint64(2) + part) * segment + np.uint64(1)
        sent = (turn * np.uint64(2) + part) * segment + np.uint64(1)
        tails = [_initial(shape, server)[connection.astype(np.int64)] for server in (False, True)]
        clock = (overall >> np.uint64(4)) + np.uint64(2)
        client = np.uint64(10 << 24) + (subflow << np.uint64(16)) + connection
        port = np.uint64(40_000) + np.uint64(2) * (connection % np.uint64(10_000)) + subflow
        numbers = {
            "client": client,
            "client_port": port,
            "identification": overall * np.uint64(3) + part,
            "clock": clock,
            "echo": clock,
        }
        client_next = np.full_like(past, _CLIENT_INITIAL + 1)
        server_next = past + np.uint64(_SERVER_INITIAL)
        if self.part < 2:
            more = {
                "sequence": server_next,
                "acknowledgement": client_next,
                "data_acknowledgement": tails[0] + np.uint64(1),
                "data_sequence": tails[1] + sent,
                "subflow_sequence": past,
            }
        else:
            more = {
                "sequence": client_next,
                "acknowledgement": server_next,
                "data_acknowledgement": tails[1] + sent,
            }
        return numbers | more


def _slots() -> list[_Slot]:
    slots = [_Slot(pair, part) for pair in range(_PAIRS) for part in range(3)]
    return [*slots[:-1], _Slot(_PAIRS - 1, 1), slots[-1]]


def _template(data: bool, version: int) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """A frame, and where its fields are: offset and width."""
    stamps = bytes([1, 1, 8, 10]) + bytes(8)
    wide = 8 if version else 4
    if data:
        flags = 0b1101 if version else 0b0101
        dss = bytes([30, 14 + wide, 0x20, flags]) + bytes(4 + wide + 4)
        dss += struct.pack(">H", len(_PAYLOAD)) + b"\x01\x01"
    else:
        dss = bytes([30, 4 + wide, 0x20, 3 if version else 1]) + bytes(wide)
    ends = (_SERVER, bytes(4)) if data else (bytes(4), _SERVER)
    ports = (_PORT, 0) if data else (0, _PORT)
    frame = _frame(ends, ports, (0, 0), 16, stamps + dss, _PAYLOAD if data else b"")
    fields = {
        "identification": (18, 2),
        "client": (30 if data else 26, 4),
        "client_port": (36 if data else 34, 2),
        "sequence": (38, 4),
        "acknowledgement": (42, 4),
        "clock": (58, 4),
        "echo": (62, 4),
        "data_acknowledgement": (70, 4 if data else wide),
    }
    if data:
        fields |= {"data_sequence": (74, wide), "subflow_sequence": (74 + wide, 4)}
    return frame, fields


def _put(rows: Bytes, offset: int, values: Numbers, kind: str) -> None:
    """Writes a number into each row, the low bits of it that have room."""
    width = np.dtype(kind).itemsize
    low = values if width == 8 else values & np.uint64((1 << 8 * width) - 1)
    rows[:, offset : offset + width] = low.astype(kind).view(np.uint8).reshape(-1, width)


def _checksums(frames: Bytes, header: int, payload: int) -> None:
    ip, tcp = _NETWORK_BYTES, _NETWORK_BYTES + 20
    frames[:, ip + 10 : ip + 12] = 0
    frames[:, tcp + 16 : tcp + 18] = 0
    addresses = _sum(frames[:, ip + 12 : ip + 20])
    pseudo = addresses + np.uint64(6 + header - tcp + payload)
    data = np.uint64(_words(_PAYLOAD) if payload else 0)
    _put(frames, ip + 10, _inverted(_sum(frames[:, ip:tcp])), ">u2")
    total = pseudo + data + _sum(frames[:, tcp:header])
    _put(frames, tcp + 16, _inverted(total), ">u2")


def _sum(data: Bytes) -> Numbers:
    return np.ascontiguousarray(data).view(">u2").sum(axis=1, dtype=np.uint64)


def _inverted(total: Numbers) -> Numbers:
    for _ in range(3):
        total = (total & np.uint64(0xFFFF)) + (total >> np.uint64(16))
    return np.uint64(0xFFFF) - total
