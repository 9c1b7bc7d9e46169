"""The frames of chosen packets, which stand in the captures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import polars as pl

from mptcplab.trace.display_filter import display_filter
from mptcplab.trace.errors import TraceError
from mptcplab.trace.reading import Progress
from mptcplab.trace.trace import Trace, identity
from mptcplab.trace.views import View

FRAME = ["file", "frame"]
"""Columns of a frame: the place of its file among all, and its number there."""


@dataclass(frozen=True)
class Written:
    """A capture that was written."""

    packets: int
    display_filter: str
    """Chooses the same packets of the captures that were read, in Wireshark."""


def write_capture(
    view: View,
    path: Path,
    subflows: Collection[int] | None = None,
    progress: Progress | None = None,
) -> Written:
    """Writes the packets of the chosen connections as a capture, pcapng, in the order of time.

    Of several `subflows` by number, those of the only connection, all unless given. The packets are
    complete as captured, names of interfaces and comments are kept; those with MP_CAPABLE of the
    connection are always among them, and the handshakes of what is chosen, whatever the range of
    time: without the keys Wireshark cannot tell which connection a join belongs to.

    The captures are read again. Of a packet that came in fragments the last one is written.

    Raises:
        TraceError: nothing is chosen, the captures cannot be read again, or `path` cannot be
            written, as it is one of them.

    """
    from mptcplab import _native

    files = readable_again(view.trace)
    _check(path, files)
    held = view.trace.subflows.filter(pl.col("connection").is_in(view.numbers))
    chosen = held if subflows is None else _chosen(held, view.numbers, subflows)
    if chosen.is_empty():
        raise TraceError("no connection is chosen: there is nothing to write")
    of_keys = held.filter(pl.col("origin") == "initial").join(
        chosen, on=["connection", "subflow"], how="anti"
    )
    frames = _frames(view, chosen, of_keys)
    span = (view.span.from_ns, view.span.to_ns)
    absolute = tuple(None if at is None else view.origin_ns + at for at in span)
    try:
        count = _native.write_frames(
            files, frames, str(path), progress or (lambda _done, _total: True)
        )
    except _native.TraceError as error:
        raise TraceError(str(error)) from error
    words = display_filter(view.trace.subflows, chosen, of_keys, (absolute[0], absolute[1]))
    return Written(count, words)


def readable_again(trace: Trace) -> list[str]:
    """Returns the files that were read.

    Raises:
        TraceError: one of them was standard input, is gone, or another one has its name.

    """
    files = [file.path for file in trace.capture.files]
    for file, known, read in zip_longest(files, trace.capture.files, trace.identities):
        if file == "-":
            raise TraceError("standard input cannot be read twice: save it to a file first")
        if not Path(file).is_file():
            raise TraceError(f"{file}: the capture that was read is not there any more")
        is_whole = known.damage is None and known.compression is None
        is_other = read is not None and identity(Path(file)) != read
        if is_other or (is_whole and Path(file).stat().st_size != known.bytes):
            raise TraceError(f"{file}: is another file than the capture that was read")
    return files


def by_file(trace: Trace, packets: pl.LazyFrame) -> pl.DataFrame:
    """Returns the packets with `file`, the place of their file, sorted by it and by frame."""
    interfaces = trace.capture.interfaces
    places = pl.LazyFrame(
        {
            "interface": [one.interface for one in interfaces],
            "file": [one.file for one in interfaces],
        },
        schema={"interface": pl.Int64, "file": pl.Int64},
    )
    return packets.join(places, on="interface").sort(FRAME).collect()


def numbers(trace: Trace, packets: pl.DataFrame) -> list[list[int]]:
    """Returns the numbers of the packets' frames in growing order, for each file."""
    own = packets.select(FRAME).unique().sort(FRAME).partition_by("file", as_dict=True)
    nothing = pl.DataFrame(schema={"frame": pl.Int64})
    return [
        own.get((place,), nothing)["frame"].to_list() for place in range(len(trace.capture.files))
    ]


def _frames(view: View, chosen: pl.DataFrame, of_keys: pl.DataFrame) -> list[list[int]]:
    mptcp = pl.col("mptcp")
    is_key = mptcp.str.contains("MP_CAPABLE").fill_null(value=False)
    is_join = mptcp.str.contains("MP_JOIN").fill_null(value=False)
    is_handshake = pl.col("flags").str.contains("S") | is_key | is_join
    columns = ["interface", "frame"]
    packets = view.trace.packets
    parts = [
        _of(view.packets, chosen),
        _of(packets.filter(is_handshake), chosen),
        _of(packets.filter(is_key), of_keys),
    ]
    every = pl.concat([part.select(columns) for part in parts])
    return numbers(view.trace, by_file(view.trace, every.unique()))


def _of(packets: pl.LazyFrame, subflows: pl.DataFrame) -> pl.LazyFrame:
    keys = ["connection", "subflow"]
    return packets.join(subflows.lazy().select(keys), on=keys, how="semi")


def _chosen(held: pl.DataFrame, connections: list[int], subflows: Collection[int]) -> pl.DataFrame:
    if len(connections) != 1:
        raise TraceError("subflows are chosen of one connection: choose it, as by --connection 0")
    known = held["subflow"].to_list()
    missing = sorted(set(subflows) - set(known))
    if missing:
        raise TraceError(
            f"connection {connections[0]} has no subflow {missing[0]}: "
            f"they go from 0 to {max(known)}"
        )
    return held.filter(pl.col("subflow").is_in(list(subflows)))


def _check(path: Path, files: list[str]) -> None:
    """Refuses to write over a file, which may be a capture that is read."""
    try:
        is_there = path.exists()
        same = [file for file in files if is_there and path.samefile(file)]
    except OSError as error:
        raise TraceError(f"{path}: cannot be written: {error.strerror}") from error
    if same:
        raise TraceError(f"{path}: is one of the captures that are read: choose another name")
    if path.is_file():
        raise TraceError(f"{path}: is there already: choose another name")
