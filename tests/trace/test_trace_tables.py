"""Tables are opened as what they are, or refused with the column's name."""

from pathlib import Path

import polars as pl
import pytest
from tests.trace.tabulate import write

from mptcplab.trace import Trace, TraceError, open_tables
from mptcplab.trace.tables import TABLES


def test_every_table_has_the_columns_of_the_schema(tables: Path) -> None:
    trace = open_tables(tables)
    for name, table in TABLES.items():
        frame = getattr(trace, name)
        assert frame.lazy().collect_schema() == table.schema, name
    assert trace.connections["connection"].to_list() == [0, 1, 2]
    assert trace.subflows.height == 5


def test_the_width_of_integers_does_not_count(tmp_path: Path) -> None:
    folder = write(tmp_path / "narrow")
    path = folder / "events.parquet"
    narrow = pl.read_parquet(path).with_columns(
        pl.col("connection").cast(pl.UInt32), pl.col("kind").cast(pl.Categorical)
    )
    narrow.write_parquet(path)
    assert open_tables(folder).events.schema == TABLES["events"].schema


def test_a_missing_and_a_wrong_column_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "wrong")
    path = folder / "samples.parquet"
    right = pl.read_parquet(path)
    right.drop("new_data_bytes").write_parquet(path)
    with pytest.raises(TraceError, match=r"samples.parquet: the column new_data_bytes is missing"):
        _ = open_tables(folder).samples
    right.with_columns(pl.col("packets").cast(pl.String)).write_parquet(path)
    with pytest.raises(TraceError, match="the column packets is String, not integer"):
        _ = open_tables(folder).samples
    path.write_bytes(b"PAR1 cut")
    with pytest.raises(TraceError, match="the table is damaged"):
        _ = open_tables(folder).samples
    path.unlink()
    with pytest.raises(TraceError, match="the table is missing"):
        _ = open_tables(folder).samples


def test_packets_that_were_not_asked_for_are_said_to_be(tmp_path: Path) -> None:
    trace = Trace(write(tmp_path / "few", packets=False))
    assert not trace.has_packets
    with pytest.raises(TraceError, match="was not asked for: read with packets=True"):
        _ = trace.packets


def test_a_folder_without_an_analysis_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"capture\.json cannot be read"):
        open_tables(tmp_path)
    (tmp_path / "capture.json").write_text('{"files": 3}')
    with pytest.raises(TraceError, match="not the description of an analysis"):
        open_tables(tmp_path)


def test_what_is_shown_in_a_notebook(tables: Path) -> None:
    shown = open_tables(tables)._repr_html_()
    assert "10.0.1.2:40000 → 10.0.9.2:5001" in shown
    assert shown.count("<tr>") == 4
