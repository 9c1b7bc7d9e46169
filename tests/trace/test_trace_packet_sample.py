"""The packets that a page shows decoded."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from mptcplab.trace import open_tables, view
from mptcplab.trace.packet_list import packet_lines
from mptcplab.trace.packet_sample import AROUND, OF_SAMPLE, command, packet_sample


def test_all_packets_are_there_where_there_is_room(tables: Path) -> None:
    chosen = view(open_tables(tables), connections=[0])
    lines = list(packet_lines(chosen))
    [piece] = packet_sample(chosen, 0, [], room=10**6)
    assert [row[4] for row in piece] == [int(line[:-1].rpartition(" ")[2]) for line in lines]
    assert all(row[3] in line for row, line in zip(piece, lines, strict=True))


@pytest.mark.parametrize("room", [1, 40, 100, 400])
def test_of_more_there_are_those_around_events_and_an_even_sample(tables: Path, room: int) -> None:
    trace = open_tables(tables)
    frames = trace.packets.filter(pl.col("connection") == 0).collect()["frame"].to_list()
    assert len(frames) > 400
    times = trace.packets.filter(pl.col("connection") == 0).collect()["t_ns"]
    event_ns = int(times[200])
    pieces = packet_sample(view(trace), 0, [event_ns], room)
    held = [[row[4] for row in piece] for piece in pieces]
    assert sum(map(len, held)) <= max(room, OF_SAMPLE)
    for own in held:
        first = frames.index(own[0])
        assert frames[first : first + len(own)] == own
    at = (event_ns - trace.capture.first_ns) / 1e9
    around = [piece for piece in pieces if piece[0][0] <= at <= piece[-1][0]]
    if room >= 4 * AROUND:
        assert len(around[0]) >= 2 * AROUND
    if room >= 100:
        starts = [piece[0][0] for piece in pieces]
        first_ns, last_ns = trace.capture.first_ns, trace.capture.last_ns
        assert max(b - a for a, b in pairwise(starts)) < 0.4 * (last_ns - first_ns) / 1e9


def test_the_sample_is_even_over_a_range_of_time(tables: Path) -> None:
    trace = open_tables(tables)
    chosen = view(trace, from_ns=10**9, to_ns=2 * 10**9)
    pieces = packet_sample(chosen, 0, [], room=5 * OF_SAMPLE)
    assert len(list(packet_lines(chosen))) > 10 * OF_SAMPLE
    assert sum(map(len, pieces)) >= 4 * OF_SAMPLE
    assert all(1 <= row[0] <= 2 for piece in pieces for row in piece)


def test_the_command_reads_the_same_files(tables: Path) -> None:
    chosen = view(open_tables(tables))
    [file] = chosen.trace.capture.files
    assert command(chosen, 2) == f"mptcplab trace {file.path} --connection 2 --packets"
