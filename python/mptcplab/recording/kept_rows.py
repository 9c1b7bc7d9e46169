"""The rows of a run that goes on, as lines of JSON: what is left of it if everything is killed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from time import monotonic
from typing import Any

from mptcplab.recording.errors import RecordingError
from mptcplab.recording.tables import TABLES
from mptcplab.recording.values import VALUES
from mptcplab.tables.schema import Table

ROWS = "rows.jsonl"
"""File of the rows while the run lasts."""
WRITTEN_EVERY_S = 0.25
"""Lines wait in memory at most so long while more come."""
WRITTEN_FROM_BYTES = 1 << 16
"""From so many on they do not wait."""


class RowsFile:
    """A new file of lines; only whole ones count, and the last one may be cut."""

    def __init__(self, folder: Path, clock: Callable[[], float] = monotonic) -> None:
        """Makes the file.

        Raises:
            OSError: it cannot be made.

        """
        self._path = folder / ROWS
        self._file = FileIO(self._path, "xb")
        self._clock = clock
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._written_s = clock()

    def add(self, lines: bytes) -> None:
        """Adds whole lines.

        Raises:
            OSError: they cannot be written.

        """
        self._waiting.append(lines)
        self._waiting_bytes += len(lines)
        now_s = self._clock()
        if self._waiting_bytes >= WRITTEN_FROM_BYTES or now_s - self._written_s >= WRITTEN_EVERY_S:
            self._written_s = now_s
            rest = memoryview(b"".join(self._waiting))
            self._waiting.clear()
            self._waiting_bytes = 0
            while rest:
                rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Ends writing; what waits is in the tables by then, or cannot be written."""
        self._file.close()

    def remove(self) -> None:
        """Ends writing, and removes the file."""
        self.close()
        self._path.unlink(missing_ok=True)


@dataclass(frozen=True)
class KeptRows:
    """The content of such a file."""

    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    """By table: its rows, each with every column."""
    warnings: tuple[str, ...]
    reached_ns: int
    """The latest time of a row."""


def read_rows(folder: Path) -> KeptRows | None:
    """Reads the rows of a recording without tables; null where it has no such file.

    Raises:
        RecordingError: the file cannot be read, or holds something else.

    """
    path = folder / ROWS
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from error
    tables: dict[str, list[Mapping[str, Any]]] = {}
    warnings: list[str] = []
    reached_ns = 0
    *lines, _cut = content.split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            record = row.pop("record")
            if record == "warning":
                warnings.append(str(row["text"]))
            table = TABLES.get(record)
            if table is not None:
                taken = _taken(row, table)
                tables.setdefault(record, []).append(taken)
                reached_ns = max(reached_ns, taken.get("t_ns") or 0)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise RecordingError(f"{path}:{number}: the file is damaged or foreign") from error
    return KeptRows(tables, tuple(dict.fromkeys(warnings)), reached_ns)


def _taken(row: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """The row with every column of the table.

    Raises:
        ValueError: a value is none of its column, or the row does not say what it is about.

    """
    taken = {}
    for column in table.columns:
        value = taken[column.name] = row.get(column.name)
        is_known = column.name in table.keys or value is not None
        if is_known and not VALUES[column.kind].holds(value):
            raise ValueError(column.name)
    return taken
