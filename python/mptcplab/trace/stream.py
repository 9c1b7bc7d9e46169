"""The data that one end sent, put together from the packets of all subflows."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import polars as pl

from mptcplab.trace.errors import TraceError
from mptcplab.trace.frames import by_file, numbers, readable_again
from mptcplab.trace.trace import Trace

LOOKED_AT = 8
"""Mappings that may overlap: what is sent again may be mapped in other parts."""


@dataclass(frozen=True)
class Piece:
    """Data of a packet: its first byte and the one behind the last, counted from 0."""

    start: int
    end: int
    file: int
    frame: int
    offset: int
    """Of its first byte in the payload of the packet."""


@dataclass(frozen=True)
class Hole:
    """Data that was not captured: its first byte and the one behind the last, from 0."""

    start: int
    end: int

    @property
    def words(self) -> str:
        """Description, with the bytes counted from 1."""
        return f"bytes {self.start + 1} to {self.end} were not captured"


def follow(
    trace: Trace, connection: int, sender: str, write: Callable[[bytes], object]
) -> list[Hole]:
    """Passes the data that an end sent to `write`, in order; returns what is missing in it.

    Data of MPTCP is put together by its data sequence numbers, other data by those of TCP. Of bytes
    that were sent more than once the first copy in the capture counts. Nothing is written in the
    place of a hole.

    Raises:
        TraceError: the captures cannot be read again.

    """
    from mptcplab import _native

    files = readable_again(trace)
    pieces, end = _pieces(trace, connection, sender)
    plan = arrange(pieces)
    assembly = Assembly(plan)
    frames = pl.DataFrame(
        [(piece.file, piece.frame) for piece in plan],
        schema={"file": pl.Int64, "frame": pl.Int64},
        orient="row",
    )

    def take(file: int, frame: int, data: bytes) -> None:
        for part in assembly.put(file, frame, data):
            write(part)

    try:
        _native.payloads(files, numbers(trace, frames), take)
    except _native.TraceError as error:
        raise TraceError(str(error)) from error
    for part in assembly.finish(end):
        write(part)
    return assembly.holes


def arrange(pieces: Iterable[Piece]) -> list[Piece]:
    """Returns the stream: pieces that do not overlap, by their starts.

    `pieces` are in the order of the capture; of a byte the first one counts.
    """
    chosen: list[Piece] = []
    starts: list[int] = []
    for piece in pieces:
        position = piece.start
        while position < piece.end:
            place = bisect_right(starts, position)
            if place and chosen[place - 1].end > position:
                position = chosen[place - 1].end
                continue
            end = piece.end if place == len(starts) else min(piece.end, starts[place])
            offset = piece.offset + position - piece.start
            starts.insert(place, position)
            chosen.insert(place, Piece(position, end, piece.file, piece.frame, offset))
            position = end
    return chosen


@dataclass
class Assembly:
    """Puts the bytes of a plan in order as the packets come; holds those that come early."""

    plan: list[Piece]
    holes: list[Hole] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._next = 0
        self._position = 0
        self._held: dict[int, bytes] = {}
        self._of: dict[tuple[int, int], list[Piece]] = defaultdict(list)
        for piece in self.plan:
            self._of[piece.file, piece.frame].append(piece)

    def put(self, file: int, frame: int, payload: bytes) -> Iterator[bytes]:
        """Takes the captured payload of a packet; gives what is in order now."""
        for piece in self._of.pop((file, frame), ()):
            length = piece.end - piece.start
            self._held[piece.start] = payload[piece.offset : piece.offset + length]
        while self._next < len(self.plan) and self.plan[self._next].start in self._held:
            piece = self.plan[self._next]
            yield self._in_order(piece, self._held.pop(piece.start))

    def finish(self, end: int) -> Iterator[bytes]:
        """Gives what waits for packets that were not found; the stream has `end` bytes at least."""
        while self._next < len(self.plan):
            piece = self.plan[self._next]
            yield self._in_order(piece, self._held.pop(piece.start, b""))
        self._miss(end)

    def _in_order(self, piece: Piece, data: bytes) -> bytes:
        self._miss(piece.start)
        self._position = piece.start + len(data)
        self._miss(piece.end)
        self._next += 1
        return data

    def _miss(self, until: int) -> None:
        """Notes that nothing is there before `until`; a hole goes on where one has ended."""
        if self._position >= until:
            return
        start = self._position
        if self.holes and self.holes[-1].end == start:
            start = self.holes.pop().start
        self.holes.append(Hole(start, until))
        self._position = until


def _pieces(trace: Trace, connection: int, sender: str) -> tuple[list[Piece], int]:
    """Returns the data of an end in the order of the capture, and how much was acknowledged."""
    is_usual = ~pl.col("kind").is_in(["duplicate", "not_acceptable"])
    own = trace.numbered_packets.filter(pl.col("connection") == connection, is_usual)
    sent = by_file(trace, own.filter(pl.col("from") == sender, pl.col("payload_bytes") > 0)).sort(
        "place"
    )
    is_mapped = sent["data_sequence"].is_not_null().any()
    number = "data_acknowledgement" if is_mapped else "acknowledgement"
    highest = own.filter(pl.col("from") != sender).select(pl.col(number).max()).collect().item()
    # Numbers begin with 1, and the acknowledged end of the data counts, too.
    end = max(0, (highest or 0) - 2)
    mappings = _mappings(trace, connection, sender)
    pieces: list[Piece] = []
    # The SYN has the number before that of its data.
    first = pl.col("sequence") + pl.col("flags").str.contains("S").cast(pl.Int64)
    columns = ("subflow", first, "payload_bytes", "data_sequence", "file", "frame")
    for subflow, sequence, size, data, file, frame in sent.select(columns).iter_rows():
        if not is_mapped:
            if sequence is not None:
                pieces.append(Piece(sequence - 1, sequence - 1 + size, file, frame, 0))
            continue
        for start, length, offset in _placed(mappings.get(subflow, []), sequence, size, data):
            pieces.append(Piece(start - 1, start - 1 + length, file, frame, offset))
    return [_cut(piece) for piece in pieces if piece.end > 0], end


def _cut(piece: Piece) -> Piece:
    """Leaves out what stands before the first byte, as the byte of a keep-alive may."""
    before = max(0, -piece.start)
    return Piece(piece.start + before, piece.end, piece.file, piece.frame, piece.offset + before)


Mapping = tuple[int, int, int]
"""Sequence number of the subflow, bytes, data sequence number."""


def _mappings(trace: Trace, connection: int, sender: str) -> dict[int, list[Mapping]]:
    """Returns the mappings of each subflow by sequence number."""
    rows = (
        trace.mappings.filter(
            pl.col("connection") == connection,
            pl.col("from") == sender,
            pl.col("bytes") > 0,
            pl.col("data_sequence").is_not_null(),
        )
        .select("subflow", "subflow_sequence", "bytes", "data_sequence")
        .unique()
        .sort("subflow", "subflow_sequence", "bytes", "data_sequence")
        .collect()
    )
    found: dict[int, list[Mapping]] = defaultdict(list)
    for subflow, sequence, size, data in rows.iter_rows():
        found[subflow].append((sequence, size, data))
    return found


def _placed(
    mappings: list[Mapping], sequence: int | None, size: int, data: int | None
) -> Iterator[tuple[int, int, int]]:
    """Returns data sequence number, length and offset of the parts of a payload.

    A payload that packets were joined to may go over several mappings. Where none covers its
    beginning it stands where the packet has been placed, as after a fallback.
    """
    position = 0
    while position < size:
        covering = None if sequence is None else _covering(mappings, sequence + position)
        if covering is None:
            if data is not None and position == 0:
                yield data, size, 0
            return
        first, length, start = covering
        skipped = (sequence or 0) + position - first
        part = min(size - position, length - skipped)
        yield start + skipped, part, position
        position += part


def _covering(mappings: list[Mapping], number: int) -> Mapping | None:
    """Returns the mapping of a byte: of those that begin before it one of the last few."""
    place = bisect_right(mappings, number, key=lambda mapping: mapping[0])
    near = reversed(mappings[max(0, place - LOOKED_AT) : place])
    return next((one for one in near if number < one[0] + one[1]), None)
