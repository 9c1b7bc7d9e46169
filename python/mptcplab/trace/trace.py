"""An analysis: its tables, wherever they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

import polars as pl

from mptcplab.tables.reader import TableFolder
from mptcplab.trace.capture import Capture, capture_from
from mptcplab.trace.errors import TraceError
from mptcplab.trace.tables import TABLES
from mptcplab.user_file import FileError, read_text

CAPTURE_FILE = "capture.json"
LARGEST_CAPTURE_FILE_BYTES = 256 << 20

Identity = tuple[int, int]
"""Device and inode of a file."""


def identity(path: Path) -> Identity:
    """Returns what tells a file from another one that takes its name later.

    Raises:
        OSError: there is no such file.

    """
    found = path.stat()
    return found.st_dev, found.st_ino


class Trace:
    """The analysis of a capture: tables as polars frames, and the files that were read.

    The tables are files in `folder`. Small ones are read into memory once; `packets` and `mappings`
    are lazy, since they may be larger than memory. Where the folder is a temporary one, it goes
    with this object, or when it is closed: collect first what is needed longer.
    """

    def __init__(
        self,
        folder: Path,
        temporary: TemporaryDirectory[str] | None = None,
        identities: Sequence[Identity | None] = (),
    ) -> None:
        """Opens the tables in `folder`; `temporary` is kept as long as this object.

        `identities` are those of the captures when they were read, as far as they are known: not of
        tables that were made earlier.

        Raises:
            TraceError: the folder does not hold an analysis.

        """
        self.folder = folder
        self.identities = identities
        self._temporary = temporary
        path = folder / CAPTURE_FILE
        try:
            content = read_text(path, LARGEST_CAPTURE_FILE_BYTES)
        except FileError as error:
            raise TraceError(
                f"{folder}: not the tables of an analysis: {CAPTURE_FILE} cannot be read"
            ) from error
        self.capture: Capture = capture_from(content, str(path))

    @cached_property
    def connections(self) -> pl.DataFrame:
        """One row a connection."""
        return self._frame("connections")

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """One row a subflow."""
        return self._frame("subflows")

    @cached_property
    def addresses(self) -> pl.DataFrame:
        """One row an address of a connection."""
        return self._frame("addresses")

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row a direction of a subflow in 100 ms."""
        return self._frame("samples")

    @cached_property
    def events(self) -> pl.DataFrame:
        """One row an event."""
        return self._frame("events")

    @property
    def packets(self) -> pl.LazyFrame:
        """One row a packet; only where packets were asked for."""
        return self._scan("packets")

    @property
    def numbered_packets(self) -> pl.LazyFrame:
        """The packets with `place`, the number of the row."""
        return self._scan("packets", "place")

    @property
    def mappings(self) -> pl.LazyFrame:
        """One row a mapping; only where packets were asked for."""
        return self._scan("mappings")

    @property
    def has_packets(self) -> bool:
        """Whether there are the tables `packets` and `mappings`."""
        return (self.folder / "packets.parquet").is_file()

    def close(self) -> None:
        """Removes the tables if they are temporary; frames that are in memory stay."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        capture = self.capture
        names = ", ".join(file.path for file in capture.files)
        return f"<Trace of {names}: {self.connections.height} connections, {capture.frames} frames>"

    def _repr_html_(self) -> str:
        from mptcplab.trace.render.notebook import to_notebook

        return to_notebook(self)

    def _frame(self, table: str) -> pl.DataFrame:
        return self._there(table).read(TABLES[table])

    def _scan(self, table: str, row_number: str | None = None) -> pl.LazyFrame:
        return self._there(table).scan(TABLES[table], row_number)

    def _there(self, table: str) -> TableFolder:
        """Returns the folder, if it has the table."""
        tables = TableFolder(self.folder, TraceError)
        path = tables.path(TABLES[table])
        if not path.is_file():
            why = "was not asked for" if TABLES[table].on_request else "is missing"
            hint = ": read with packets=True" if TABLES[table].on_request else ""
            raise TraceError(f"{path}: the table {why}{hint}")
        return tables
