"""Whatever is wrong with the files of a result is said in a sentence, never in a traceback."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.report.sample import sample

from mptcplab.recording import RecordingError, Result
from mptcplab.recording.tables import TABLES
from mptcplab.report import report, to_html, to_json
from mptcplab.report.series import course

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = sample(tmp_path_factory.mktemp("whole") / "out", repetitions=1).folder
    content = json.loads((folder / "result.json").read_text())
    content["scenario"]["variants"] = content["scenario"]["variants"][2:]
    (folder / "result.json").write_text(json.dumps(content))
    return folder


def places(value: Any, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [place] if place else []
    if isinstance(value, dict):
        found += [deep for key, inner in value.items() for deep in places(inner, (*place, key))]
    if isinstance(value, list):
        found += [deep for key, inner in enumerate(value) for deep in places(inner, (*place, key))]
    return found


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
@pytest.mark.parametrize("name", ["result.json", "mptcp/1/manifest.json"])
def test_a_value_that_was_changed_is_an_error_that_names_the_file_or_does_no_harm(
    whole: Path, tmp_path: Path, name: str, data: st.DataObject
) -> None:
    content = json.loads((whole / name).read_text())
    place = data.draw(st.sampled_from(places(content)))
    parent = content
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = data.draw(JUNK)
    folder = tmp_path / "out"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("tcp-*"))
    (folder / name).write_text(json.dumps(content))
    problem = None
    try:
        json.dumps(to_json(report(Result.open(folder))), allow_nan=False)
    except RecordingError as error:
        problem = str(error)
    assert problem is None or ".json: " in problem


def test_a_plan_that_points_nowhere_is_an_error_that_names_it(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "out")
    path = tmp_path / "out" / "mptcp" / "1" / "manifest.json"
    content = json.loads(path.read_text())
    content["plan"]["links"][1]["ends"][0]["interface"] = 7
    path.write_text(json.dumps(content))
    with pytest.raises(RecordingError, match=r"manifest\.json: plan: .*no interface 7 of node 0"):
        report(Result.open(tmp_path / "out"))


def test_a_damaged_table_is_an_error_that_names_it(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "out")
    path = tmp_path / "out" / "mptcp" / "1" / "link_samples.parquet"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(RecordingError, match=r"mptcp/1/link_samples\.parquet: the table is damag"):
        report(Result.open(tmp_path / "out"))


def with_nulls(whole: Path, folder: Path, table: str, columns: list[str]) -> Path:
    """A copy of the result in which these columns of a table are null in every row."""
    shutil.copytree(whole, folder)
    path = folder / "mptcp" / "1" / f"{table}.parquet"
    types = TABLES[table].schema
    nothing = [pl.lit(None, types[name]).alias(name) for name in columns]
    pl.read_parquet(path).with_columns(nothing).write_parquet(path)
    return folder


KNOWN = ("transfers", "deliveries", "subflow_samples", "interface_samples", "link_samples")


@pytest.mark.parametrize("table", KNOWN)
def test_a_table_of_nulls_is_an_error_that_names_it(
    whole: Path, tmp_path: Path, table: str
) -> None:
    folder = with_nulls(whole, tmp_path / "out", table, TABLES[table].schema.names())
    rows = pl.read_parquet(folder / "mptcp" / "1" / f"{table}.parquet").height
    key = TABLES[table].keys[0]
    message = (
        rf"mptcp/1/{table}\.parquet: the table is damaged: {rows} of {rows} rows have no {key}$"
    )
    with pytest.raises(RecordingError, match=message):
        to_html([report(Result.open(folder))])


@pytest.mark.parametrize(
    ("table", "column"), [(table, name) for table in KNOWN for name in TABLES[table].schema]
)
@pytest.mark.filterwarnings("error")
def test_a_column_of_nulls_is_an_error_that_names_its_table_or_does_no_harm(
    whole: Path, tmp_path: Path, table: str, column: str
) -> None:
    folder = with_nulls(whole, tmp_path / "out", table, [column])
    problem = None
    try:
        model = report(Result.open(folder))
        json.dumps(to_json(model), allow_nan=False)
        for variant in model.variants:
            course(variant)
    except RecordingError as error:
        problem = str(error)
    assert (problem is not None) == (column in TABLES[table].keys)
    assert problem is None or f"{table}.parquet: the table is damaged" in problem
