"""Packets and data that are taken out of captures, beside tshark and the truth."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.trace import shark
from tests.trace.handmade import captures
from tests.trace.handmade.flow import content
from tests.trace.handmade.talks import TALKS
from typer.testing import CliRunner

from mptcplab import trace
from mptcplab.cli.app import app
from mptcplab.trace.display_filter import display_filter
from mptcplab.trace.errors import TraceError
from mptcplab.trace.frames import write_capture
from mptcplab.trace.stream import follow

needs_tshark = pytest.mark.skipif(
    shark.tshark_missing() is not None, reason=str(shark.tshark_missing())
)
SHOWN = ("v1", "v0-ipv6", "tcp")
"""Talks that are taken to pieces by Wireshark, too: it takes a second each."""


def _read(name: str, folder: Path) -> tuple[Path, trace.Trace]:
    file = captures.write(folder / f"{name}.pcapng", captures.pcapng(TALKS[name]().frames))
    return file, trace.read(file, workers=1)


def _frames(file: Path, words: str = "tcp") -> list[tuple[str, ...]]:
    """Time and bytes of the frames that a display filter chooses, as tshark has them."""
    fields = ("frame.time_epoch", "frame.len", "tcp.seq_raw", "tcp.ack_raw", "tcp.checksum")
    command = ["tshark", "-n", "-r", str(file), "-Y", words, "-T", "fields"]
    for name in fields:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return sorted(tuple(line.split("\t")) for line in done.stdout.splitlines())


@needs_tshark
@pytest.mark.parametrize("name", SHOWN)
def test_the_display_filter_chooses_what_was_written(name: str, tmp_path: Path) -> None:
    file, found = _read(name, tmp_path)
    last = found.subflows.height - 1
    half = (found.capture.last_ns - found.capture.first_ns) // 2
    ways = (None, None), ({last}, None), ({last}, half), (None, half)
    for number, (chosen, from_ns) in enumerate(ways):
        path = tmp_path / f"written-{number}.pcapng"
        written = write_capture(trace.view(found, from_ns=from_ns), path, chosen)
        rows = _frames(path)
        assert len(rows) == written.packets > 0
        assert rows == _frames(file, written.display_filter)


def test_the_same_addresses_and_ports_are_told_apart_by_time(tmp_path: Path) -> None:
    _, found = _read("tcp", tmp_path)
    own = found.subflows
    begin, end = own["start_ns"][0], own["end_ns"][0]
    apart = 10**9
    other = own.with_columns(pl.col("start_ns", "end_ns") + apart)
    nothing = own.clear()
    alone = display_filter(own, own, nothing, (None, None))
    assert "frame.time_epoch" not in alone
    both = display_filter(pl.concat([own, other]), own, nothing, (None, None))
    times = [f"{at // 10**9}.{at % 10**9:09d}" for at in (begin, end)]
    assert f"frame.time_epoch >= {times[0]} && frame.time_epoch <= {times[1]}" in both


@pytest.mark.parametrize("name", TALKS)
def test_a_connection_that_was_written_is_analysed_alike(name: str, tmp_path: Path) -> None:
    _, found = _read(name, tmp_path)
    path = tmp_path / "written.pcapng"
    written = write_capture(trace.view(found), path)
    again = trace.read(path, workers=1)
    assert written.packets == again.capture.frames
    for table in ("connections", "subflows", "events"):
        both = [getattr(one, table).drop("frame", strict=False) for one in (found, again)]
        assert both[0].equals(both[1]), table


@pytest.mark.parametrize("name", TALKS)
def test_the_followed_stream_is_what_was_sent(name: str, tmp_path: Path) -> None:
    _, found = _read(name, tmp_path)
    for sender in ("client", "server"):
        parts: list[bytes] = []
        holes = follow(found, 0, sender, parts.append)
        data = b"".join(parts)
        row = found.connections.row(0, named=True)
        assert len(data) == row[f"{sender}_bytes"] + row[f"{sender}_unmapped_bytes"], holes
        length = len(data) + sum(hole.end - hole.start for hole in holes)
        # The talks about TCP alone are made of zeros.
        whole = content(0, length) if any(data) else bytes(length)
        missing = {byte for hole in holes for byte in range(hole.start, hole.end)}
        assert data == bytes(byte for place, byte in enumerate(whole) if place not in missing)


def test_the_commands_tell_what_they_did(tmp_path: Path) -> None:
    file, found = _read("v1", tmp_path)
    path = tmp_path / "written.pcapng"
    run = CliRunner().invoke(app, ["trace", str(file), "--write", str(path), "--subflow", "1"])
    assert run.exit_code == 0, run.output
    assert f"{path}: " in run.stderr
    assert "display filter: (ip.addr == " in run.stderr
    assert "tcp.options.mptcp.subtype == 0" in run.stderr
    assert "Connection 0" in run.stdout
    followed = CliRunner().invoke(app, ["trace", str(file), "--follow", "client"])
    assert followed.exit_code == 0, followed.stderr
    assert followed.stdout_bytes == content(0, found.connections["client_bytes"][0])


def test_holes_are_named_and_are_a_failure(tmp_path: Path) -> None:
    frames = TALKS["v1"]().frames
    largest = max(frames, key=lambda frame: len(frame.packet))
    file = tmp_path / "hole.pcapng"
    captures.write(file, captures.pcapng([one for one in frames if one is not largest]))
    runs = [
        CliRunner().invoke(app, ["trace", str(file), "--follow", end])
        for end in ("client", "server")
    ]
    assert sorted(run.exit_code for run in runs) == [0, 1]
    told = max(runs, key=lambda run: run.exit_code).stderr
    assert told.startswith("bytes ")
    assert told.endswith(" were not captured\n")


def test_a_capture_that_is_read_is_not_written_over(tmp_path: Path) -> None:
    file, found = _read("tcp", tmp_path)
    content_before = file.read_bytes()
    with pytest.raises(TraceError, match="is one of the captures that are read"):
        write_capture(trace.view(found), file)
    assert file.read_bytes() == content_before
    with pytest.raises(TraceError, match="has no subflow 9: they go from 0 to 0"):
        write_capture(trace.view(found), tmp_path / "other.pcapng", {9})
    with pytest.raises(TraceError, match="cannot be written"):
        write_capture(trace.view(found), tmp_path / "no" / "where.pcapng")


def test_another_file_of_the_same_size_is_not_taken_for_the_capture(tmp_path: Path) -> None:
    file, found = _read("tcp", tmp_path)
    same, other = tmp_path / "moved.pcapng", tmp_path / "other.pcapng"
    other.write_bytes(file.read_bytes())
    file.rename(same)
    other.rename(file)
    with pytest.raises(TraceError, match="is another file than the capture that was read"):
        write_capture(trace.view(found), tmp_path / "written.pcapng")
    same.replace(file)
    assert write_capture(trace.view(found), tmp_path / "written.pcapng").packets > 0
