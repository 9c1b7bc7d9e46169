"""Captures in, tables out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from mptcplab.trace.errors import TraceError
from mptcplab.trace.trace import Identity, Trace, identity

Progress = Callable[[int, int], bool]
"""Bytes that were read and bytes there are, 0 where unknown; false ends the reading."""

FILES = str | os.PathLike[str]


def read(
    files: FILES | Sequence[FILES],
    *,
    packets: bool = True,
    checksums: bool = False,
    workers: int | None = None,
    tables: FILES | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Analyses captures: files that belong together, such as one of each interface.

    `files` are pcap or pcapng, also compressed by gzip, zstd, xz, bzip2 or LZ4; `-` is standard
    input. `packets` makes the tables `packets` and `mappings` too. `checksums` verifies the data
    checksums of MPTCP. `workers` is how many cores may be used, all of them unless given. `tables`
    is a folder for the tables, which is made and must not hold an analysis; else they are
    temporary.

    Where `progress` returns false, what was read so far is analysed, and `capture.interrupted` is
    set. A damaged file is analysed up to the damage, see `capture.files`.

    Raises:
        TraceError: a file cannot be read at all, or the tables cannot be written.

    """
    from mptcplab import _native

    names = [os.fspath(one) for one in ([files] if isinstance(files, str | os.PathLike) else files)]
    if not names:
        raise TraceError("no file to read")
    temporary = None
    if tables is None:
        temporary = TemporaryDirectory(prefix="mptcplab-trace-")
        folder = Path(temporary.name)
    else:
        folder = _new_folder(Path(tables))
    identities = tuple(_identity(name) for name in names)
    try:
        _native.trace(
            names,
            str(folder),
            packets,
            checksums,
            workers or len(os.sched_getaffinity(0)),
            progress or (lambda _done, _total: True),
        )
    except _native.TraceError as error:
        raise TraceError(str(error)) from error
    return Trace(folder, temporary, identities)


def _identity(name: str) -> Identity | None:
    try:
        return identity(Path(name))
    except OSError:
        # As of standard input. Of a file that cannot be read the analysis tells.
        return None


def _new_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.glob("*.parquet"))
    except OSError as error:
        raise TraceError(f"{folder}: cannot be written: {error.strerror}") from error
    if taken:
        raise TraceError(f"{folder}: holds tables already: choose another folder")
    return folder


def open_tables(folder: FILES) -> Trace:
    """Opens the tables that `read` or `mptcplab trace --tables` made.

    Raises:
        TraceError: the folder does not hold an analysis.

    """
    return Trace(Path(folder))
