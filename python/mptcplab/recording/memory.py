"""A recording whose rows are in memory: for figures alone, or of a run without tables yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mptcplab.recording.manifest import Lab, Manifest, Status
from mptcplab.recording.reader import Recording
from mptcplab.recording.tables import TABLES


class MemoryWriter:
    """Collects the rows of one run, as `Writer` does, and gives them as a recording."""

    def __init__(self, manifest: Manifest) -> None:
        """`manifest` as of `Writer`."""
        self._manifest = manifest
        self._rows: dict[str, list[Mapping[str, object]]] = {}
        self._warnings = list(manifest.warnings)
        self._emulator: dict[str, object] = {}

    def ready(self, lab: Lab) -> None:
        """See `Writer.ready`; there is no file to write."""

    def lines(self, lines: bytes) -> None:
        """See `Writer.lines`; there is no file to write."""

    def row(self, table: str, values: Mapping[str, object]) -> None:
        """See `Writer.row`."""
        self._rows.setdefault(table, []).append(values)

    def warn(self, sentence: str) -> None:
        """See `Writer.warn`."""
        if sentence not in self._warnings:
            self._warnings.append(sentence)

    def emulator(self, **figures: object) -> None:
        """See `Writer.emulator`."""
        self._emulator.update(figures)

    def finish(self, status: Status, duration_s: float) -> Manifest:
        """Ends the recording; its manifest as of `Writer.finish`."""
        self._manifest = self._manifest.model_copy(
            update={
                "status": status,
                "duration_s": duration_s,
                "warnings": tuple(self._warnings),
                "emulator": self._emulator,
            }
        )
        return self._manifest

    def recording(self) -> Recording:
        """The recording of the rows that were collected."""
        return MemoryRecording(Path(), self._manifest, self._rows)


@dataclass(frozen=True, repr=False)
class MemoryRecording(Recording):
    """A recording whose rows are in memory."""

    taken: Mapping[str, Sequence[Mapping[str, object]]]
    """By table: its rows, each with every column."""

    @property
    def has_tables(self) -> bool:
        """See `Recording.has_tables`."""
        return True

    def scan(self, table: str) -> pl.LazyFrame:
        """See `Recording.scan`."""
        return self.frame(table).lazy()

    def rows(
        self,
        table: str,
        columns: Collection[str],  # noqa: ARG002 - every column is there
    ) -> Iterable[Mapping[str, Any]]:
        """See `Recording.rows`."""
        return self.taken.get(table, ())

    def frame(self, table: str) -> pl.DataFrame:
        """See `Recording.frame`."""
        schema = TABLES[table].schema
        rows = self.taken.get(table, ())
        return pl.DataFrame({name: [row[name] for row in rows] for name in schema}, schema=schema)
