"""Schema of the tables of a recording or of an analysis."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import polars as pl


class Kind(Enum):
    """Kind of the values of a column: what it is read as, whatever width the file has."""

    INTEGER = pl.Int64()
    """Counts, sizes and times; signed, so that differences of counters never wrap."""
    WIDE = pl.UInt64()
    """Keys, data sequence numbers, and rates of which the largest is "unlimited"."""
    NUMBER = pl.Float64()
    TEXT = pl.String()
    FLAG = pl.Boolean()

    def holds(self, dtype: pl.DataType) -> bool:
        """Whether a file's column of this type can be read as this kind."""
        match self:
            case Kind.INTEGER | Kind.WIDE:
                return dtype.is_integer()
            case Kind.NUMBER:
                return dtype.is_float()
            case Kind.TEXT:
                return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
            case Kind.FLAG:
                return isinstance(dtype, pl.Boolean)


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind
    unit: str
    """Unit of the values; empty where there is none."""
    meaning: str
    optional: bool = False
    """Null where the value is not known. Recordings say it by the keys of the table instead."""
    is_new: bool = False
    """Older files lack it; its values are null then."""


@dataclass(frozen=True)
class Table:
    """One table."""

    name: str
    row: str
    """The meaning of a row."""
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    """Columns that say what a row is about. A table in which one is null is damaged."""
    is_new: bool = False
    """Recordings of version 0.1.0 lack it; it is empty then."""
    on_request: bool = False
    """Written only when asked for: it has a row for each packet."""

    @cached_property
    def schema(self) -> pl.Schema:
        """The polars schema that the table is read with, columns in order."""
        return pl.Schema({column.name: column.kind.value for column in self.columns})


def time(name: str, meaning: str, *, optional: bool = False) -> Column:
    """A time in nanoseconds: since a run's zero, or of a capture since the Unix epoch."""
    return Column(name, Kind.INTEGER, "ns", meaning, optional)


def duration(name: str, meaning: str, *, optional: bool = False) -> Column:
    """A length of time."""
    return Column(name, Kind.INTEGER, "ns", meaning, optional)


def text(name: str, meaning: str, *, optional: bool = False) -> Column:
    """Words."""
    return Column(name, Kind.TEXT, "", meaning, optional)


def flag(name: str, meaning: str, *, optional: bool = False) -> Column:
    """Yes or no."""
    return Column(name, Kind.FLAG, "", meaning, optional)


def count(name: str, meaning: str, *, optional: bool = False) -> Column:
    """How many, or a small number of the protocol."""
    return Column(name, Kind.INTEGER, "", meaning, optional)


def size(name: str, meaning: str, *, optional: bool = False) -> Column:
    """Bytes."""
    return Column(name, Kind.INTEGER, "B", meaning, optional)


def wide(name: str, meaning: str, *, optional: bool = False) -> Column:
    """A number of the protocol that fills 64 bits."""
    return Column(name, Kind.WIDE, "", meaning, optional)


def number(name: str, unit: str, meaning: str, *, optional: bool = False) -> Column:
    """A number that is not whole."""
    return Column(name, Kind.NUMBER, unit, meaning, optional)


def rate(name: str, meaning: str) -> Column:
    """Bits a second; the largest value is "unlimited"."""
    return Column(name, Kind.WIDE, "bit/s", meaning)


def microseconds(name: str, meaning: str) -> Column:
    """A length of time as kernels tell it."""
    return Column(name, Kind.INTEGER, "µs", meaning)


def segments(name: str, meaning: str) -> Column:
    """How many segments."""
    return Column(name, Kind.INTEGER, "segments", meaning)


def new(column: Column) -> Column:
    """The column as one that older files lack."""
    return replace(column, is_new=True)


def of_each_end(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns once for each end, with the prefix `client_` and then `server_`."""
    own = tuple(columns)
    return tuple(
        Column(f"{end}_{one.name}", one.kind, one.unit, one.meaning, one.optional)
        for end in ("client", "server")
        for one in own
    )
