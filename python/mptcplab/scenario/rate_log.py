"""Bandwidth logs of real drives as rate traces.

A log is a table: CSV, or columns with semicolons, tabs or blanks between them. Each line has a
time, and either the rate from then until the next line's time, or the bytes that came since the
line before. Public logs of both kinds: Raca and others, "Beyond Throughput: a 4G LTE Dataset with
Channel and Context Metrics", MMSys 2018 (`Timestamp`, `DL_bitrate` in kbit/s); van der Hooft and
others, "HTTP/2-Based Adaptive Streaming of HEVC Video over 4G/LTE Networks", IEEE Communications
Letters 20 (11), 2016 (milliseconds in column 1, bytes in column 5).
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from mptcplab.scenario.fields import LARGEST_RATE_BPS
from mptcplab.scenario.mahimahi import OPPORTUNITY_BYTES
from mptcplab.scenario.problem import did_you_mean, quoted

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
"""Seconds of a unit of time."""
RATE_UNITS = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "B/s": 8.0, "kB/s": 8e3, "MB/s": 8e6}
"""Bits a second of a unit of rate."""
MOST_OPPORTUNITIES = 2_000_000
_MOST_NAMES = 50
_LONGEST_NAME = 100
"""Names of columns that are looked through for one like the wanted."""
_MOST_DIGITS = 5
"""Of the number of a column."""
_LONGEST_S = 7 * 24 * 3600.0
_OPPORTUNITY_BITS = OPPORTUNITY_BYTES * 8
_UNDERSCORED = re.compile(r"(\d{4})\.(\d\d)\.(\d\d)_(\d\d)\.(\d\d)\.(\d\d)")


class LogError(ValueError):
    """A log that cannot be read as asked; the text names the line."""


@dataclass(frozen=True)
class Columns:
    """Which columns to read: names of the first line, or numbers from 1."""

    time: str
    rate: str | None = None
    """Either this or `bytes`."""
    bytes: str | None = None
    time_unit: str = "s"
    """Of times that are numbers; others are dates such as `2018-01-18 14:38:03`."""
    rate_unit: str = "kbit/s"


@dataclass(frozen=True)
class _Span:
    """Bits that came between two times, in seconds."""

    start: float
    end: float
    bits: float


def trace_of_log(text: str, columns: Columns, name: str) -> list[int]:
    """The trace of a log: times in milliseconds at which 1504 bytes can pass, from 0 on.

    It is as long as the log: where the log ends in silence, one packet passes at its end.

    Raises:
        LogError: a column is missing, a line holds no time or number, or time runs backwards.

    """
    rows = list(_rows(text, columns, name))
    spans = _rate_spans(rows) if columns.rate is not None else _byte_spans(rows)
    times: list[int] = []
    passed = 0.0
    for span in spans:
        count = math.floor((passed + span.bits) / _OPPORTUNITY_BITS)
        if count > MOST_OPPORTUNITIES:
            raise LogError(f"{name}: more than {MOST_OPPORTUNITIES} packets: cut it")
        for number in range(len(times) + 1, count + 1):
            share = (number * _OPPORTUNITY_BITS - passed) / span.bits
            times.append(max(1, math.ceil(1000 * (span.start + share * (span.end - span.start)))))
        passed += span.bits
    length_ms = math.floor(1000 * spans[-1].end) if spans else 0
    if length_ms < 1:
        raise LogError(f"{name}: needs two lines at different times")
    return times if times and times[-1] >= length_ms else [*times, length_ms]


def _rate_spans(rows: Sequence[tuple[float, float]]) -> list[_Span]:
    """Each rate until the next line's time; the last one as long as the one before it."""
    ends = [time for time, _ in rows[1:]]
    if len(rows) > 1:
        ends.append(rows[-1][0] + rows[-1][0] - rows[-2][0])
    pairs = zip(rows, ends, strict=False)
    return [_Span(start, end, rate * (end - start)) for (start, rate), end in pairs if end > start]


def _byte_spans(rows: Sequence[tuple[float, float]]) -> list[_Span]:
    """The bits of each line since the one before; those of the first line, which has none, not."""
    spans: list[_Span] = []
    held = 0.0
    for (start, _), (end, bits) in pairwise(rows):
        held += bits
        if end > start:
            spans.append(_Span(start, end, held))
            held = 0.0
    return spans


def _rows(text: str, columns: Columns, name: str) -> Iterator[tuple[float, float]]:
    """Seconds since the first line, and bits a second or bits, of each line."""
    lines = list(_cells(text, name))
    if not lines:
        raise LogError(f"{name}: is empty")
    value_column = columns.rate if columns.rate is not None else columns.bytes or ""
    factor = 8.0 if columns.rate is None else RATE_UNITS[columns.rate_unit]
    head = [cell.strip() for cell in lines[0][1]]
    places = [_place(column, head, name) for column in (columns.time, value_column)]
    has_head = any(not _is_place(column) for column in (columns.time, value_column)) or (
        places[1] < len(head) and _number(head[places[1]]) is None
    )
    first = last = 0.0
    for index, (number, cells) in enumerate(lines[1:] if has_head else lines):
        where = f"{name}:{number}"
        if max(places) >= len(cells):
            raise LogError(f"{where}: has {len(cells)} columns")
        time = _seconds(cells[places[0]].strip(), columns.time_unit, where)
        amount = _number(cells[places[1]].strip())
        if amount is None or not 0 <= amount * factor <= LARGEST_RATE_BPS:
            raise LogError(f"{where}: {quoted(cells[places[1]])} is no amount from 0 up")
        first = time if index == 0 else first
        if time - first < last:
            raise LogError(f"{where}: is earlier than the line before it")
        last = time - first
        if last > _LONGEST_S:
            raise LogError(f"{where}: is more than a week after the first line")
        yield last, amount * factor


def _cells(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers from 1 and cells of the lines that are not empty."""
    head = next((line for line in text.splitlines() if line.strip()), "")
    separator = next((one for one in (";", "\t", ",") if one in head), None)
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if separator is None:
            yield number, line.split()
        else:
            try:
                yield number, next(csv.reader([line], delimiter=separator))
            except csv.Error as error:
                raise LogError(f"{name}:{number}: {error}") from None


def _place(column: str, head: Sequence[str], name: str) -> int:
    if _is_place(column):
        if not 1 <= int(column) <= len(head):
            raise LogError(f"{name}: has no column {column}: it has {len(head)}")
        return int(column) - 1
    if column not in head:
        hint = did_you_mean(
            column, [one for one in head if len(one) <= _LONGEST_NAME][:_MOST_NAMES]
        )
        raise LogError(f"{name}: has no column {quoted(column)}: {hint}")
    return head.index(column)


def _is_place(column: str) -> bool:
    """Whether a column is given by its number."""
    return column.isascii() and column.isdecimal() and len(column) <= _MOST_DIGITS


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _seconds(text: str, unit: str, where: str) -> float:
    number = _number(text)
    if number is not None:
        return number * TIME_UNITS[unit]
    try:
        when = datetime.fromisoformat(_UNDERSCORED.sub(r"\1-\2-\3 \4:\5:\6", text))
        # A date without a zone has the same distance from the others on every machine.
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise LogError(f"{where}: {quoted(text)} is no time") from None
