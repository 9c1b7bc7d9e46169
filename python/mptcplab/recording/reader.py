"""Opening a recording."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from mptcplab.recording.errors import RecordingError
from mptcplab.recording.liveness import is_alive_since
from mptcplab.recording.manifest import MANIFEST, RUNNING, Manifest, Status, load
from mptcplab.recording.tables import TABLES


@dataclass(frozen=True)
class Recording:
    """One run of one variant, once: a manifest and tables."""

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: Path) -> "Recording":
        """Opens the recording in ``folder``.

        A recording that still says ``running`` but whose lab process is gone is opened as
        ``interrupted``.

        Raises:
            RecordingError: the folder is not a recording, or its manifest is damaged.

        """
        if (folder / MANIFEST).is_file():
            return cls(folder, load(Manifest, folder / MANIFEST))
        running = folder / RUNNING
        if not running.is_file():
            raise RecordingError(
                f"{folder}: not a recording: it holds neither {MANIFEST} nor {RUNNING}"
            )
        manifest = load(Manifest, running)
        lab = manifest.lab
        if lab is None or not is_alive_since(lab.pid, running.stat().st_mtime):
            manifest = manifest.model_copy(update={"status": Status.INTERRUPTED, "lab": None})
        return cls(folder, manifest)

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
        schema = TABLES[table].schema
        path = self.folder / f"{table}.parquet"
        if not path.is_file():
            why = "is missing" if self.has_tables else "was not written: the run did not end"
            raise RecordingError(f"{path}: the table {why}")
        try:
            frame = pl.scan_parquet(path)
            found = frame.collect_schema()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise RecordingError(f"{path}: the table is damaged: {_first_line(error)}") from error
        if found != schema:
            names = sorted(set(found.items()) ^ set(schema.items()), key=lambda item: item[0])
            raise RecordingError(
                f"{path}: columns differ from the format in {names[0][0] if names else 'order'}; "
                "the file is foreign or of another version"
            )
        return frame

    def frame(self, table: str) -> pl.DataFrame:
        """The table ``table``, read into memory once.

        Raises:
            RecordingError: as :meth:`scan`, and when the data cannot be read.

        """
        if table not in self._frames:
            try:
                self._frames[table] = self.scan(table).collect()
            except (pl.exceptions.PolarsError, OSError) as error:
                path = self.folder / f"{table}.parquet"
                raise RecordingError(
                    f"{path}: the table is damaged: {_first_line(error)}"
                ) from error
        return self._frames[table]

    @cached_property
    def _frames(self) -> dict[str, pl.DataFrame]:
        return {}


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
