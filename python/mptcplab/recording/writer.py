"""Writing a recording: rows come one by one, tables appear at the end, each whole."""

import io
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import polars as pl

from mptcplab.recording.errors import RecordingError
from mptcplab.recording.files import publish
from mptcplab.recording.kept_rows import RowsFile
from mptcplab.recording.manifest import MANIFEST, RUNNING, Lab, Manifest, Status, dump
from mptcplab.recording.tables import MEASURED, TABLES
from mptcplab.recording.values import VALUES
from mptcplab.tables.schema import Table


class Writer:
    """Collects the rows of one run and writes them as a recording.

    Rows stay in memory until :meth:`finish`, packed as the tables' types: of a long run as many
    bytes as its tables have in memory when they are read. With ``keeps_rows`` they are in a file
    as well, as lines, until the tables are written.
    """

    def __init__(self, folder: Path, manifest: Manifest, *, keeps_rows: bool = False) -> None:
        """Makes ``folder``, which must not hold anything yet.

        ``manifest`` says what is run; its ``status``, ``duration_s``, ``warnings`` and ``lab``
        are filled in here.

        Raises:
            RecordingError: the folder cannot be made, or holds something.

        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            occupied = next(folder.iterdir(), None)
        except OSError as error:
            raise RecordingError(f"{folder}: cannot be made: {error.strerror}") from error
        if occupied is not None:
            raise RecordingError(f"{folder}: holds {occupied.name} already; choose an empty folder")
        self._folder = folder
        self._manifest = manifest
        names = TABLES if manifest.measured is None else MEASURED
        self._buffers = {name: _Buffer(TABLES[name]) for name in names}
        self._warnings: list[str] = list(manifest.warnings)
        self._emulator: dict[str, object] = {}
        self._rows: RowsFile | None = None
        if keeps_rows:
            try:
                self._rows = RowsFile(folder)
            except OSError as error:
                raise RecordingError(f"{folder}: cannot be written: {error.strerror}") from error

    @property
    def folder(self) -> Path:
        """The recording's folder."""
        return self._folder

    def ready(self, lab: Lab) -> None:
        """Says that the run goes on, and in which process, to those who look from outside.

        Raises:
            RecordingError: the file cannot be written.

        """
        running = self._manifest.model_copy(update={"status": Status.RUNNING, "lab": lab})
        publish(self._folder / RUNNING, dump(running))

    def lines(self, lines: bytes) -> None:
        """Keeps the engine's lines, as they are, until there are tables.

        Where they cannot be written a warning says so, and the run goes on without.
        """
        if self._rows is None:
            return
        try:
            self._rows.add(lines)
        except OSError as error:
            self.warn(f"the rows were not kept while the run lasted: {error.strerror}")
            self._rows.remove()
            self._rows = None

    def line(self, line: str | bytes) -> None:
        """Takes one of the lab's JSON lines that is a row of a table.

        Raises:
            ValueError: the line is not a row of a known table with known columns. This is an
                error in the engine, not of a user.

        """
        record = json.loads(line)
        table = record.pop("record")
        self.row(table, record)

    def row(self, table: str, values: Mapping[str, object]) -> None:
        """Adds a row; a column that is not given is null.

        Raises:
            ValueError: unknown table, unknown column, or a value of another type.

        """
        if table not in self._buffers:
            raise ValueError(f"unknown table {table!r}; known are {', '.join(self._buffers)}")
        self._buffers[table].add(values)

    def warn(self, sentence: str) -> None:
        """Adds a warning for the reader of the results, once."""
        if sentence not in self._warnings:
            self._warnings.append(sentence)

    def emulator(self, **figures: object) -> None:
        """Adds figures about how the engine itself did."""
        self._emulator.update(figures)

    def finish(self, status: Status, duration_s: float | None) -> Manifest:
        """Writes every table, then the manifest, and so ends the recording.

        Where one of them cannot be written, the tables and kept rows go and a manifest alone says
        why.

        Raises:
            RecordingError: a file cannot be written.

        """
        try:
            for name, buffer in self._buffers.items():
                publish(self._table(name), buffer.parquet())
            manifest = self._ended(status, duration_s, self._warnings)
            publish(self._folder / MANIFEST, dump(manifest))
        except RecordingError as error:
            self._give_up(error, duration_s)
            raise
        (self._folder / RUNNING).unlink(missing_ok=True)
        if self._rows is not None:
            self._rows.remove()
        return manifest

    def _table(self, name: str) -> Path:
        return self._folder / f"{name}.parquet"

    def _ended(self, status: Status, duration_s: float | None, warnings: Iterable[str]) -> Manifest:
        return self._manifest.model_copy(
            update={
                "status": status,
                "duration_s": duration_s,
                "warnings": tuple(warnings),
                "emulator": self._emulator,
                "lab": None,
            }
        )

    def _give_up(self, error: RecordingError, duration_s: float | None) -> None:
        """Leaves a manifest that says why there is no more; all else makes room for it."""
        for name in self._buffers:
            self._table(name).unlink(missing_ok=True)
        if self._rows is not None:
            self._rows.remove()
        failed = self._ended(Status.FAILED, duration_s, [*self._warnings, str(error)])
        with suppress(RecordingError):
            publish(self._folder / MANIFEST, dump(failed))
            (self._folder / RUNNING).unlink(missing_ok=True)


PACKED_ROWS = 16_384
"""So many rows are packed at a time; before, each value is an object of some thirty bytes."""


class _Buffer:
    """The rows of one table, by column."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._kinds = {column.name: VALUES[column.kind] for column in table.columns}
        self._columns: dict[str, list[object]] = {name: [] for name in self._kinds}
        self._rows = 0
        self._packed: list[pl.DataFrame] = []

    def add(self, values: Mapping[str, object]) -> None:
        # A long run has a hundred thousand rows: only what a row has is looked at.
        for name, value in values.items():
            expected = self._kinds.get(name)
            if expected is None:
                raise ValueError(f"table {self._table.name!r} has no column {name}")
            if value is not None and not expected.holds(value):
                raise ValueError(f"{self._table.name}.{name}: {value!r} is not {expected.words}")
        for name, column in self._columns.items():
            column.append(values.get(name))
        self._rows += 1
        if self._rows == PACKED_ROWS:
            self._pack()

    def parquet(self) -> bytes:
        self._pack()
        file = io.BytesIO()
        pl.concat(self._packed, rechunk=True).write_parquet(file, compression="zstd")
        return file.getvalue()

    def _pack(self) -> None:
        self._packed.append(pl.DataFrame(self._columns, schema=self._table.schema))
        for column in self._columns.values():
            column.clear()
        self._rows = 0
