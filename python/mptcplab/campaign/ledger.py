"""The store of a campaign that is carried out: what is done already, and what is done now."""

from __future__ import annotations

import fcntl
import io
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from mptcplab.campaign import journal
from mptcplab.campaign.record import Record, is_final
from mptcplab.campaign.store import JOURNAL, Store, frames_of
from mptcplab.campaign.tables import RUNS, TABLES
from mptcplab.recording import RecordingError
from mptcplab.recording.files import publish, sync

LOCK = "lock"
WAITS_S = 20.0
"""How long workers of a campaign that was killed may take to notice."""
SYNC_EVERY_S = 5.0
"""A power failure costs the runs that ended in this time before it, at most."""


class Ledger:
    """The runs of a store that are done; only one process has it."""

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
        sync(store.folder)
        self._whole = {int(path.stem) for path in (store.folder / RUNS.name).glob("*.parquet")}
        self._open: dict[int, set[int]] = {}
        self._attempts: dict[int, int] = {}
        """Of the runs that failed and are to be tried again."""
        self._files: dict[int, int] = {}
        self._is_synced = True
        self._synced_s = time.monotonic()
        self.damaged: list[str] = []
        """Sentences on lines of journals that cannot be read; their runs are missing."""
        for path in sorted((store.folder / JOURNAL).glob(f"*{journal.SUFFIX}")):
            self._read(path)
        self.found = sum(map(len, self._open.values())) + sum(
            len(self.grid.runs_of_part(part)) for part in self._whole
        )
        self.done = 0
        self.done_again = 0
        """Of these the runs that had failed before."""
        for part in list(self._open):
            self._close_if_whole(part)

    @property
    def to_be_tried_again(self) -> int:
        """How many runs have failed in a way that another attempt may cure."""
        return len(self._attempts)

    def missing(self) -> Iterator[int]:
        """The runs that are not there, in order, and those that are to be tried again."""
        for part in range(self.grid.parts):
            if part not in self._whole:
                done = frozenset(self._open.get(part, ()))
                yield from (run for run in self.grid.runs_of_part(part) if run not in done)

    def add(self, run: int, line: bytes) -> None:
        """Keeps the record of a run; `line` is its JSON without an end of line.

        Raises:
            RecordingError: it cannot be written.

        """
        record: Record = json.loads(line)
        before = self._attempts.get(run, 0)
        record["attempts"] = before + 1
        part = self.grid.part_of(run)
        try:
            if part not in self._files:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._files[part] = os.open(self._journal(part), flags, 0o644)
            _write_all(self._files[part], journal.line_of(record))
        except OSError as error:
            folder = self._store.folder
            raise RecordingError(f"{folder}: cannot be written: {error.strerror}") from error
        self._is_synced = False
        self.done += 1
        self.done_again += before > 0
        self._count(part, record)
        self._close_if_whole(part)

    def sync_when_due(self) -> None:
        """Brings to the disk what was added; comes again and again, also where no run ends.

        Raises:
            RecordingError: it cannot be written.

        """
        if not self._is_synced and time.monotonic() - self._synced_s > SYNC_EVERY_S:
            self.sync()

    def sync(self) -> None:
        """Brings to the disk what was added.

        Raises:
            RecordingError: it cannot be written.

        """
        try:
            for file in self._files.values():
                os.fsync(file)
        except OSError as error:
            folder = self._store.folder
            raise RecordingError(f"{folder}: cannot be written: {error.strerror}") from error
        # The names of new journals.
        sync(self._store.folder / JOURNAL)
        self._is_synced = True
        self._synced_s = time.monotonic()

    def close(self) -> None:
        """Lets another command have the folder.

        Raises:
            RecordingError: what was written did not reach the disk.

        """
        try:
            self.sync()
        finally:
            for file in self._files.values():
                os.close(file)
            self._files.clear()
            os.close(self.lock)

    def _journal(self, part: int) -> Path:
        return self._store.folder / JOURNAL / f"{part:06}{journal.SUFFIX}"

    def _read(self, path: Path) -> None:
        part = int(path.stem)
        if part in self._whole:
            # A kill between the last table of a part and the end of its journal.
            path.unlink()
            return
        content = journal.read(path)
        self.damaged += [f"{words}: its run is done again" for words in content.damage(path)]
        journal.repair(path)
        self._open[part] = set()
        for record in content.records.values():
            self._count(part, record)

    def _count(self, part: int, record: Record) -> None:
        """Counts a run as done, or as one that is to be tried again."""
        done = self._open.setdefault(part, set())
        if is_final(record):
            done.add(record["run"])
            self._attempts.pop(record["run"], None)
        else:
            self._attempts[record["run"]] = record["attempts"]

    def _close_if_whole(self, part: int) -> None:
        """Makes Parquet files of a journal to which nothing is to be added."""
        if len(self._open[part]) < len(self.grid.runs_of_part(part)):
            return
        records = journal.read(self._journal(part)).records
        if len(records) < len(self._open[part]):
            raise RecordingError(f"{self._journal(part)}: a line was damaged: start again")
        for name, frame in frames_of(self.grid, records).items():
            path = self._store.folder / name / f"{part:06}.parquet"
            # A kill between the files of a part leaves the first ones.
            path.unlink(missing_ok=True)
            file = io.BytesIO()
            frame.write_parquet(file, compression="zstd")
            publish(path, file.getvalue())
            sync(path)
            sync(path.parent)
        if part in self._files:
            os.close(self._files.pop(part))
        self._journal(part).unlink()
        self._whole.add(part)
        del self._open[part]


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
