"""A journal: records of runs in a file, a line each, with a checksum before it.

A kill leaves at most a line that is not whole, which counts as not written. A line whose checksum
is another was damaged later, by a disk: its run is done again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from mptcplab.campaign.record import Record
from mptcplab.recording import RecordingError

SUFFIX = ".jsonl"


@dataclass(frozen=True)
class Content:
    """The content of a journal."""

    records: dict[int, Record]
    """By run; of a run that was done again the last one."""
    damaged: tuple[int, ...]
    """Numbers of the lines that are damaged, from 1."""

    def damage(self, path: Path) -> list[str]:
        """A clause on each damaged line of the journal at this path."""
        return [f"{path}:{number}: the line is damaged" for number in self.damaged]


def line_of(record: Record) -> bytes:
    """The line of a record."""
    text = json.dumps(record).encode()
    return b"%08x %s\n" % (crc32(text), text)


def read(path: Path) -> Content:
    """Reads a journal.

    Raises:
        RecordingError: it cannot be read.

    """
    records, damaged = {}, []
    for number, line in enumerate(_lines(path), 1):
        record = _record(line)
        if record is None:
            damaged.append(number)
        else:
            records[record["run"]] = record
    return Content(records, tuple(damaged))


def repair(path: Path) -> None:
    """Leaves the whole lines only; a kill leaves the journal as it was.

    Raises:
        RecordingError: it cannot be read or written.

    """
    whole = [line for line in _lines(path) if _record(line) is not None]
    content = b"".join(line + b"\n" for line in whole)
    try:
        if content == path.read_bytes():
            return
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror}") from error


def _lines(path: Path) -> Iterator[bytes]:
    """The lines that are ended."""
    try:
        yield from path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from error


def _record(line: bytes) -> Record | None:
    """The record of a line; null where it is damaged."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % crc32(text):
        return None
    record: Record = json.loads(text)
    return record
