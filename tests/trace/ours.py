"""The tables of an analysis, for tests."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from mptcplab import _native

Row = dict[str, Any]


class Tables:
    """The tables that an analysis wrote into a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __getitem__(self, table: str) -> pl.DataFrame:
        return pl.read_parquet(self.folder / f"{table}.parquet")

    def rows(self, table: str) -> list[Row]:
        return self[table].to_dicts()

    @cached_property
    def capture(self) -> Row:
        found: Row = json.loads((self.folder / "capture.json").read_text())
        return found

    def packets(self) -> list[Row]:
        """The table `packets` of one file, in the order of its frames."""
        return self["packets"].sort("frame").to_dicts()


def _go_on(_read: int, _of: int) -> bool:
    return True


def analyse(
    files: Sequence[Path], folder: Path, *, checksums: bool = False, workers: int = 1
) -> Tables:
    """Analyses captures as one, with the tables of packets and mappings."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [str(file) for file in files]
    _native.trace(names, str(folder), True, checksums, workers, _go_on)
    return Tables(folder)
