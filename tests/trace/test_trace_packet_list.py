"""`--packets` has a line for each packet, in words."""

from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as some
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.trace import open_tables, view
from mptcplab.trace.packet_list import flags, packet_lines, sack_blocks

NUMBERS = some.integers(0, 2**32 - 1)


def test_each_packet_of_the_chosen_connections_has_a_line(tables: Path) -> None:
    trace = open_tables(tables)
    for number in range(3):
        own = trace.packets.filter(pl.col("connection") == number).collect()
        lines = list(packet_lines(view(trace, connections=[number])))
        assert len(lines) == own.height
        frames = [int(line.rpartition("(frame ")[2].removesuffix(")")) for line in lines]
        assert frames == own["frame"].to_list()
        assert all(f"connection {number} subflow" in line for line in lines)


def test_a_line_has_numbers_options_and_what_was_found(tables: Path) -> None:
    found = CliRunner().invoke(app, ["trace", str(tables), "--connection", "0", "--packets"])
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert "client  SYN  seq 0  win" in lines[0]
    assert "MP_CAPABLE v1 flags=H" in lines[0]
    assert sum("[fast retransmission" in line for line in lines) > 0
    again = [line for line in lines if "1400 bytes of subflow 0 reinjected" in line]
    assert len(again) == 6
    assert "  DSN " in again[0]
    assert "(1400)  " in again[0]
    assert sum("RTT " in line for line in lines) > 0


def test_a_range_of_time_cuts_the_list(tables: Path) -> None:
    whole = list(packet_lines(view(open_tables(tables))))
    part = list(packet_lines(view(open_tables(tables), from_ns=10**9, to_ns=2 * 10**9)))
    assert 0 < len(part) < len(whole)
    assert [line for line in whole if line in part] == part


def test_flags_are_named_in_a_fixed_order() -> None:
    assert (flags("AS"), flags("APF"), flags("")) == ("SYN,ACK", "FIN,PSH,ACK", "no flags")


@given(NUMBERS, NUMBERS, some.integers(-(2**30), 2**30))
def test_blocks_of_sack_are_relative_as_the_acknowledgement_is(
    initial: int, relative: int, distance: int
) -> None:
    raw = (initial + relative) % 2**32
    left, right = ((raw + distance + size) % 2**32 for size in (0, 1400))
    row = {
        "acknowledgement": relative,
        "raw_acknowledgement": raw,
        "sack": f"{left}-{right},{left}-{right}",
    }
    expected = f"{relative + distance}:{relative + distance + 1400}"
    assert list(sack_blocks(row)) == [expected, expected]
    assert list(sack_blocks(row | {"acknowledgement": None})) == [f"{left}:{right}"] * 2
