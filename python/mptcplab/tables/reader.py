"""Reading the tables of a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from mptcplab.tables.schema import Table

_FOREIGN = "the file is foreign or of another version"


@dataclass(frozen=True)
class TableFolder:
    """A folder of Parquet files, one a table."""

    folder: Path
    error: type[Exception]
    """The exception where a file cannot be read, is damaged, or lacks a column."""

    def path(self, table: Table) -> Path:
        """File of a table."""
        return self.folder / f"{table.name}.parquet"

    def scan(self, table: Table, row_number: str | None = None) -> pl.LazyFrame:
        """A table as a lazy frame, with the columns and types of its schema.

        `row_number` is the name of one more column. Columns that the schema does not have are
        passed over, and narrower types are read as its own.
        """
        path = self.path(table)
        try:
            frame = pl.scan_parquet(path, row_index_name=row_number)
            found = frame.collect_schema()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self._damaged(table, error) from error
        for column in table.columns:
            if column.name not in found and column.is_new:
                frame = frame.with_columns(pl.lit(None, column.kind.value).alias(column.name))
                continue
            if column.name not in found:
                raise self.error(f"{path}: the column {column.name} is missing; {_FOREIGN}")
            if not column.kind.holds(found[column.name]):
                raise self.error(
                    f"{path}: the column {column.name} is {found[column.name]}, not "
                    f"{column.kind.name.lower()}; {_FOREIGN}"
                )
        columns = [pl.col(name).cast(dtype) for name, dtype in table.schema.items()]
        if row_number is not None:
            columns.append(pl.col(row_number).cast(pl.Int64))
        return frame.select(columns)

    def read(self, table: Table) -> pl.DataFrame:
        """A table in memory; its rows say what they are about."""
        try:
            frame = self.scan(table).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self._damaged(table, error) from error
        for key in table.keys:
            if missing := frame[key].null_count():
                raise self.error(
                    f"{self.path(table)}: the table is damaged: {missing} of {frame.height} rows "
                    f"have no {key}"
                )
        return frame

    def _damaged(self, table: Table, error: Exception) -> Exception:
        first_line, _, _ = str(error).partition("\n")
        return self.error(f"{self.path(table)}: the table is damaged: {first_line}")
