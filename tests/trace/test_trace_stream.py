"""Data of an end, put together: any order, any overlap, holes named."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.trace.stream import Assembly, Hole, Piece, _placed, arrange

STREAM = bytes(range(1, 256)) * 2
RANGES = some.lists(
    some.tuples(some.integers(0, len(STREAM)), some.integers(1, 90)).map(
        lambda one: (one[0], min(len(STREAM), one[0] + one[1]))
    ),
    max_size=40,
)


@given(RANGES, some.integers(0, 2**32))
def test_any_pieces_give_the_stream_without_what_is_missing(
    ranges: list[tuple[int, int]], seed: int
) -> None:
    pieces = [Piece(start, end, 0, frame, 0) for frame, (start, end) in enumerate(ranges)]
    plan = arrange(pieces)
    assert all(one.end <= other.start for one, other in pairwise(plan))
    assembly = Assembly(plan)
    arrived = list(enumerate(ranges))
    Random(seed).shuffle(arrived)
    data = b""
    for frame, (start, end) in arrived:
        data += b"".join(assembly.put(0, frame, STREAM[start:end]))
    data += b"".join(assembly.finish(len(STREAM)))
    held = {byte for start, end in ranges for byte in range(start, end)}
    assert data == bytes(STREAM[byte] for byte in sorted(held))
    missing = {byte for hole in assembly.holes for byte in range(hole.start, hole.end)}
    assert missing == set(range(len(STREAM))) - held
    for one, other in pairwise(assembly.holes):
        assert one.end < other.start


def test_the_first_copy_of_a_byte_counts() -> None:
    assembly = Assembly(arrange([Piece(0, 4, 0, 1, 0), Piece(2, 6, 1, 1, 0)]))
    assert b"".join(assembly.put(1, 1, b"wxyz")) == b""
    assert b"".join(assembly.put(0, 1, b"abcd")) == b"abcdyz"
    assert assembly.holes == []


def test_what_was_cut_off_a_packet_is_a_hole() -> None:
    assembly = Assembly(arrange([Piece(0, 10, 0, 1, 0), Piece(10, 20, 0, 2, 0)]))
    data = b"".join([*assembly.put(0, 1, b"only"), *assembly.finish(25)])
    assert data == b"only"
    assert assembly.holes == [Hole(4, 25)]
    assert assembly.holes[0].words == "bytes 5 to 25 were not captured"


def test_a_payload_goes_over_several_mappings() -> None:
    mappings = [(1, 100, 501), (101, 100, 301)]
    assert list(_placed(mappings, 51, 120, 551)) == [(551, 50, 0), (301, 70, 50)]
    # Behind the last mapping nothing is known, before the first one the packet's own place is.
    assert list(_placed(mappings, 151, 100, 351)) == [(351, 50, 0)]
    assert list(_placed([], 1, 100, 7)) == [(7, 100, 0)]
    assert list(_placed([], None, 100, None)) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--follow", "both"], "write client or server, whose data is meant"),
        (["--follow", "server"], "3 are chosen: choose one by"),
        (["--follow", "server", "--connection", "0"], "the capture that was read is not there"),
        (["--write", "some.pcapng"], "both.pcapng: the capture that was read is not there"),
    ],
)
def test_mistakes_are_told(tables: Path, arguments: list[str], message: str) -> None:
    from mptcplab.cli.errors import UserError

    found = CliRunner().invoke(app, ["trace", str(tables), *arguments])
    assert isinstance(found.exception, UserError)
    assert message in str(found.exception)
