"""The runs of a campaign on disk: Parquet files of whole parts, and journals of the others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from mptcplab.campaign import journal
from mptcplab.campaign.grid import Grid
from mptcplab.campaign.record import Record, benefits
from mptcplab.campaign.tables import RUNS, TABLES, TOTALS, TRANSFERS
from mptcplab.recording import RecordingError

JOURNAL = "journal"


class Store:
    """The runs in a folder."""

    def __init__(self, folder: Path, grid: Grid) -> None:
        self.folder = folder
        self.grid = grid

    def scan(self, table: str) -> pl.LazyFrame:
        """A table of all runs that are done.

        Raises:
            RecordingError: a journal cannot be read.

        """
        schema = TABLES[table].schema
        parts = sorted((self.folder / table).glob("*.parquet"))
        known = self._known()
        whole = [path for path in parts if path.stem in known]
        frames = [pl.scan_parquet(whole)] if whole else []
        for path in self._journals():
            records = journal.read(path).records
            frames.append(frames_of(self.grid, records)[table].lazy())
        return pl.concat(frames) if frames else pl.LazyFrame(schema=schema)

    def damage(self) -> list[str]:
        """Sentences on lines of journals that cannot be read; their runs are missing.

        Raises:
            RecordingError: a journal cannot be read.

        """
        return [
            f"{words}: its run is missing until the same sweep goes on"
            for path in self._journals()
            for words in journal.read(path).damage(path)
        ]

    def _known(self) -> set[str]:
        """The parts whose tables are whole."""
        return {path.stem for path in (self.folder / RUNS.name).glob("*.parquet")}

    def _journals(self) -> list[Path]:
        """Those of the other parts, in order."""
        known = self._known()
        every = sorted((self.folder / JOURNAL).glob(f"*{journal.SUFFIX}"))
        return [path for path in every if path.stem not in known]

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """The rows of a frame that was made of `scan`.

        Raises:
            RecordingError: a table is damaged.

        """
        try:
            return frame.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            first_line, _, _ = str(error).partition("\n")
            raise RecordingError(f"{self.folder}: a table is damaged: {first_line}") from error


def frames_of(grid: Grid, records: Mapping[int, Record]) -> dict[str, pl.DataFrame]:
    """The tables of runs of a part, by number of the run."""
    ordered = [records[run] for run in sorted(records)]
    gains: dict[int, dict[str, float]] = {}
    units: dict[int, list[Record]] = {}
    for one in ordered:
        units.setdefault(one["run"] // len(grid.variants), []).append(one)
    for unit in units.values():
        if len(unit) == len(grid.variants):
            gains |= benefits(unit)
    totals = [
        (one["run"], metric, value)
        for one in ordered
        for metric, value in (one["totals"] | gains.get(one["run"], {})).items()
    ]
    transfers = [(one["run"], *row) for one in ordered for row in one["transfers"]]
    runs = [tuple(one.get(name) for name in RUNS.schema) for one in ordered]
    return {
        TRANSFERS.name: pl.DataFrame(transfers, schema=TRANSFERS.schema, orient="row"),
        TOTALS.name: pl.DataFrame(totals, schema=TOTALS.schema, orient="row"),
        RUNS.name: pl.DataFrame(runs, schema=RUNS.schema, orient="row"),
    }
