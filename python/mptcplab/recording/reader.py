"""Opening a recording."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from mptcplab import lazy
from mptcplab.recording.errors import RecordingError
from mptcplab.recording.kept_rows import read_rows
from mptcplab.recording.liveness import is_alive_since
from mptcplab.recording.manifest import MANIFEST, RUNNING, Manifest, Status, load
from mptcplab.recording.tables import MEASURED, TABLES
from mptcplab.recording.unfinished import unfinished_transfers
from mptcplab.tables.reader import TableFolder


@dataclass(frozen=True, repr=False)
class Recording:
    """One run of one variant, once: a manifest and tables, each a property of its name."""

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> "Recording":
        """Opens the recording in ``folder``.

        A recording that still says ``running`` but whose lab process is gone is opened as
        ``interrupted``. Where its rows are kept, its tables are those of the moment at which it is
        opened; of transfers that an interrupted run had not ended they have what was delivered.

        Raises:
            RecordingError: the folder is not a recording, or its manifest is damaged.

        """
        folder = Path(folder)
        if (folder / MANIFEST).is_file():
            return cls(folder, load(Manifest, folder / MANIFEST))
        try:
            found = cls._without_tables(folder)
        except RecordingError:
            if not (folder / MANIFEST).is_file():
                raise
        else:
            if not (folder / MANIFEST).is_file():
                return found
        # The run has ended meanwhile.
        return cls(folder, load(Manifest, folder / MANIFEST))

    @classmethod
    def _without_tables(cls, folder: Path) -> "Recording":
        running = folder / RUNNING
        try:
            written_s = running.stat().st_mtime
        except OSError as error:
            raise RecordingError(
                f"{folder}: not a recording: it holds neither {MANIFEST} nor {RUNNING}"
            ) from error
        manifest = load(Manifest, running)
        lab = manifest.lab
        if lab is None or not is_alive_since(lab.pid, written_s):
            manifest = manifest.model_copy(update={"status": Status.INTERRUPTED, "lab": None})
        kept = read_rows(folder)
        if kept is None:
            return cls(folder, manifest)
        from mptcplab.recording.memory import MemoryRecording

        told = {"duration_s": kept.reached_ns / 1e9, "warnings": kept.warnings}
        tables = dict(kept.tables)
        if manifest.status is Status.INTERRUPTED:
            left = unfinished_transfers(tables, manifest.plan)
            tables["transfers"] = [*tables.get("transfers", ()), *left]
        return MemoryRecording(folder, manifest.model_copy(update=told), tables)

    @property
    def has_tables(self) -> bool:
        """Whether the tables were written: false while it runs, or if it was killed."""
        return (self.folder / MANIFEST).is_file()

    def scan(self, table: str) -> pl.LazyFrame:
        """The table ``table`` as a lazy frame, columns as in :mod:`mptcplab.recording.tables`.

        Raises:
            RecordingError: the table's file is missing, damaged or has other columns.
            KeyError: there is no table of that name in the format.

        """
        folder = self._there(table)
        if folder is None:
            return pl.LazyFrame(schema=TABLES[table].schema)
        return folder.scan(TABLES[table])

    def frame(self, table: str) -> pl.DataFrame:
        """The table ``table``, read into memory once.

        Raises:
            RecordingError: as :meth:`scan`, and when the data cannot be read, or a row does not say
                what it is about.

        """
        if table not in self._frames:
            folder = self._there(table)
            self._frames[table] = (
                pl.DataFrame(schema=TABLES[table].schema)
                if folder is None
                else folder.read(TABLES[table])
            )
        return self._frames[table]

    def rows(self, table: str, columns: Collection[str]) -> Iterable[Mapping[str, Any]]:
        """The rows of the table ``table`` by column; they have these columns, at least.

        Raises:
            RecordingError: as :meth:`frame`.

        """
        return self.frame(table).select(*columns).iter_rows(named=True)

    @property
    def transfers(self) -> pl.DataFrame:
        """One row a connection of a flow, from start to end."""
        return self.frame("transfers")

    @property
    def deliveries(self) -> pl.DataFrame:
        """One row a bin of 10 ms of what the receiver of a transfer got."""
        return self.frame("deliveries")

    @property
    def joins(self) -> pl.DataFrame:
        """One row an additional subflow of a transfer's connection, as it was established."""
        return self.frame("joins")

    @property
    def flow_entries(self) -> pl.DataFrame:
        """One row a flow entry of a switch, over its life in the run."""
        return self.frame("flow_entries")

    @property
    def subflow_samples(self) -> pl.DataFrame:
        """One row a subflow at one time, as one end sees it."""
        return self.frame("subflow_samples")

    @property
    def connection_samples(self) -> pl.DataFrame:
        """One row an MPTCP connection at one time."""
        return self.frame("connection_samples")

    @property
    def interface_samples(self) -> pl.DataFrame:
        """One row an interface at one time: its counters."""
        return self.frame("interface_samples")

    @property
    def link_samples(self) -> pl.DataFrame:
        """One row a direction of a link at one time."""
        return self.frame("link_samples")

    @property
    def latencies(self) -> pl.DataFrame:
        """One row an echo or request and its answer."""
        return self.frame("latencies")

    @property
    def frames(self) -> pl.DataFrame:
        """One row a frame of a stream that the receiver has whole."""
        return self.frame("frames")

    @property
    def counters(self) -> pl.DataFrame:
        """One row a counter of a node over the run."""
        return self.frame("counters")

    @property
    def events(self) -> pl.DataFrame:
        """One row something that happened."""
        return self.frame("events")

    @property
    def outputs(self) -> pl.DataFrame:
        """One row a line of a command's output."""
        return self.frame("outputs")

    @property
    def programs(self) -> pl.DataFrame:
        """One row a run of a command's program, at one end."""
        return self.frame("programs")

    @property
    def sockets(self) -> pl.DataFrame:
        """One row a TCP socket of a command's programs over its life."""
        return self.frame("sockets")

    def __repr__(self) -> str:
        run = self.manifest
        words = f"{run.scenario} ({run.engine}) {run.variant} {run.repetition}: {run.status}"
        return f"<Recording of {words}, in {self.folder}>"

    def _repr_html_(self) -> str:
        shown: str = lazy.call("mptcplab.report.notebook.of_recording", self)
        return shown

    @cached_property
    def _frames(self) -> dict[str, pl.DataFrame]:
        return {}

    def _there(self, table: str) -> TableFolder | None:
        """The folder, if it has the table; null where recordings of its kind or age have none."""
        tables = TableFolder(self.folder, RecordingError)
        path = tables.path(TABLES[table])
        if path.is_file():
            return tables
        is_foreign = self.manifest.measured is not None and table not in MEASURED
        if self.has_tables and (TABLES[table].is_new or is_foreign):
            return None
        why = "is missing" if self.has_tables else "was not written: the run did not end"
        raise RecordingError(f"{path}: the table {why}")
