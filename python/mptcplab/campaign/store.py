"""The runs of a campaign on disk: journals of what is done, and Parquet files of whole parts."""

from __future__ import annotations

import fcntl
import io
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from mptcplab.campaign.grid import Grid
from mptcplab.campaign.record import Record, benefits
from mptcplab.campaign.tables import RUNS, TABLES, TOTALS, TRANSFERS
from mptcplab.recording import RecordingError
from mptcplab.recording.files import publish

JOURNAL = "journal"
LOCK = "lock"
WAITS_S = 20.0
"""How long workers of a campaign that was killed may take to notice."""


class Store:
    """The runs in a folder."""

    def __init__(self, folder: Path, grid: Grid) -> None:
        self.folder = folder
        self.grid = grid

    def scan(self, table: str) -> pl.LazyFrame:
        """A table of all runs that are done.

        Raises:
            RecordingError: a journal is damaged.

        """
        schema = TABLES[table].schema
        parts = sorted((self.folder / table).glob("*.parquet"))
        known = {path.stem for path in (self.folder / RUNS.name).glob("*.parquet")}
        whole = [path for path in parts if path.stem in known]
        frames = [pl.scan_parquet(whole)] if whole else []
        for journal in sorted((self.folder / JOURNAL).glob("*.jsonl")):
            if journal.stem not in known:
                frames.append(_frames(self.grid, list(_records(journal)))[table].lazy())
        return pl.concat(frames) if frames else pl.LazyFrame(schema=schema)

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


class Ledger:
    """A store that is written: what is done already, and what is done now."""

    def __init__(self, store: Store) -> None:
        """Makes the folders, waits for the lock, and reads what is there.

        Raises:
            RecordingError: the folder cannot be written, or another campaign goes on in it.

        """
        self._store = store
        self.grid = store.grid
        try:
            for name in (JOURNAL, *TABLES):
                (store.folder / name).mkdir(parents=True, exist_ok=True)
            self.lock = _locked(store.folder / LOCK)
        except OSError as error:
            raise RecordingError(f"{store.folder}: cannot be written: {error.strerror}") from error
        runs = store.folder / RUNS.name
        self._whole = {int(path.stem) for path in runs.glob("*.parquet")}
        self._open: dict[int, set[int]] = {}
        self._files: dict[int, int] = {}
        for path in (store.folder / JOURNAL).glob("*.jsonl"):
            part = int(path.stem)
            if part in self._whole:
                path.unlink()
                continue
            _cut_torn_line(path)
            self._open[part] = {record["run"] for record in _records(path)}
        self.found = sum(map(len, self._open.values())) + sum(
            len(self.grid.runs_of_part(part)) for part in self._whole
        )
        self.done = 0
        for part in list(self._open):
            self._close_if_whole(part)

    def missing(self) -> Iterator[int]:
        """The runs that are not there, in order."""
        for part in range(self.grid.parts):
            if part not in self._whole:
                done = frozenset(self._open.get(part, ()))
                yield from (run for run in self.grid.runs_of_part(part) if run not in done)

    def add(self, run: int, line: bytes) -> None:
        """Keeps the record of a run; `line` is its JSON without an end of line.

        Raises:
            RecordingError: it cannot be written.

        """
        part = self.grid.part_of(run)
        try:
            if part not in self._files:
                path = self._journal(part)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._files[part] = os.open(path, flags, 0o644)
            _write_all(self._files[part], line + b"\n")
        except OSError as error:
            folder = self._store.folder
            raise RecordingError(f"{folder}: cannot be written: {error.strerror}") from error
        self._open.setdefault(part, set()).add(run)
        self.done += 1
        self._close_if_whole(part)

    def close(self) -> None:
        """Lets another command have the folder."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        os.close(self.lock)

    def _journal(self, part: int) -> Path:
        return self._store.folder / JOURNAL / f"{part:06}.jsonl"

    def _close_if_whole(self, part: int) -> None:
        """Makes Parquet files of a journal to which nothing is to be added."""
        if len(self._open[part]) < len(self.grid.runs_of_part(part)):
            return
        frames = _frames(self.grid, list(_records(self._journal(part))))
        for name, frame in frames.items():
            path = self._store.folder / name / f"{part:06}.parquet"
            # A kill between the files of a part leaves the first ones.
            path.unlink(missing_ok=True)
            file = io.BytesIO()
            frame.write_parquet(file, compression="zstd")
            publish(path, file.getvalue())
        if part in self._files:
            os.close(self._files.pop(part))
        self._journal(part).unlink()
        self._whole.add(part)
        del self._open[part]


def _frames(grid: Grid, records: list[Record]) -> dict[str, pl.DataFrame]:
    """The tables of runs of a part, by number of the run."""
    by_run = {record["run"]: record for record in records}
    ordered = [by_run[run] for run in sorted(by_run)]
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


def _records(journal: Path) -> Iterator[Record]:
    """The records of a journal; a last line that is not whole is left out."""
    try:
        content = journal.read_bytes()
    except OSError as error:
        raise RecordingError(f"{journal}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            record: Any = json.loads(line)
            if not isinstance(record["run"], int):
                raise TypeError
        except (ValueError, TypeError, KeyError):
            raise RecordingError(f"{journal}:{number}: the line is damaged") from None
        yield record


def _cut_torn_line(journal: Path) -> None:
    """Takes away what a kill left of a line."""
    with journal.open("rb+") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            file.truncate(whole)


def _locked(path: Path) -> int:
    """A descriptor that holds the lock; the processes that inherit it hold it, too."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    until_s = time.monotonic() + WAITS_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if time.monotonic() > until_s:
                os.close(file)
                raise RecordingError(
                    f"{path.parent}: another sweep goes on in this folder: wait for its end"
                ) from None
            time.sleep(0.1)


def _write_all(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]
