"""A recording that stays in memory: for figures alone, without files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

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
        made = Recording(Path(), self._manifest)
        made.fill({name: self._frame(name) for name in TABLES})
        return made

    def _frame(self, name: str) -> pl.DataFrame:
        rows = self._rows.get(name)
        if not rows:
            return _empty(name)
        schema = TABLES[name].schema
        columns = {column: [row.get(column) for row in rows] for column in schema}
        return pl.DataFrame(columns, schema=schema)


@cache
def _empty(table: str) -> pl.DataFrame:
    return pl.DataFrame(schema=TABLES[table].schema)
