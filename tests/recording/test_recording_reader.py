"""A reader's view of good, unfinished, damaged and foreign folders."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.recording.handmade import description, manifest, record, result, transfer

from mptcplab.recording.errors import RecordingError
from mptcplab.recording.manifest import Lab, Status
from mptcplab.recording.reader import Recording
from mptcplab.recording.result import Result, open_results
from mptcplab.recording.writer import Writer


def dead_pid() -> int:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def test_a_recording_whose_lab_lives_is_running(tmp_path: Path) -> None:
    lab = Lab(pid=os.getpid(), nodes={"client": os.getpid()})
    Writer(tmp_path / "r", manifest()).ready(lab)
    recording = Recording.open(tmp_path / "r")
    assert recording.manifest.status is Status.RUNNING
    assert recording.manifest.lab == lab
    assert not recording.has_tables
    with pytest.raises(RecordingError, match=r"events\.parquet: the table was not written"):
        recording.scan("events")


def test_a_recording_whose_lab_is_gone_was_interrupted(tmp_path: Path) -> None:
    Writer(tmp_path / "r", manifest()).ready(Lab(pid=dead_pid(), nodes={}))
    recording = Recording.open(tmp_path / "r")
    assert recording.manifest.status is Status.INTERRUPTED
    assert recording.manifest.lab is None


def test_a_process_that_was_given_the_same_number_later_is_not_the_lab(tmp_path: Path) -> None:
    Writer(tmp_path / "r", manifest()).ready(Lab(pid=os.getpid(), nodes={}))
    os.utime(tmp_path / "r" / "running.json", (1_000_000_000, 1_000_000_000))
    assert Recording.open(tmp_path / "r").manifest.status is Status.INTERRUPTED


def test_a_result_lists_the_recordings_that_exist_by_repetition(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description([("tcp", "tcp"), ("mptcp", "mptcp")], 12))
    for repetition in (2, 10, 1):
        folder = made.recording_folder("mptcp", repetition)
        record(folder, {"transfers": [transfer(bytes=repetition)]}, manifest(repetition=repetition))
    [opened] = open_results([tmp_path / "out"])
    assert opened.description == made.description
    assert [entry.name for entry in opened.variants] == ["tcp", "mptcp"]
    assert opened.recordings("tcp") == []
    sizes = [r.frame("transfers")["bytes"].item() for r in opened.recordings("mptcp")]
    assert sizes == [1, 2, 10]


def no_folder(folder: Path) -> None:
    assert not folder.exists()


def empty(folder: Path) -> None:
    folder.mkdir()


def garbage(folder: Path) -> None:
    folder.mkdir()
    (folder / "result.json").write_bytes(os.urandom(100))


def truncated(folder: Path) -> None:
    result(folder, description([("tcp", "tcp")]))
    path = folder / "result.json"
    path.write_text(path.read_text()[:60])


def foreign(folder: Path) -> None:
    folder.mkdir()
    (folder / "result.json").write_text('{"format": 1, "numbers": [1, 2]}')


def newer(folder: Path) -> None:
    result(folder, description([("tcp", "tcp")]))
    path = folder / "result.json"
    path.write_text(
        path.read_text().replace('"format": 1', '"format": 2').replace('"format":1', '"format":2')
    )


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (no_folder, "out: no such folder; give the folder of a result"),
        (empty, "out: not a result: it holds no result.json"),
        (garbage, "result.json: Invalid JSON: .*; the file is damaged or foreign"),
        (truncated, "result.json: Invalid JSON: .*; the file is damaged or foreign"),
        (foreign, "result.json: scenario: Field required; the file is damaged or foreign"),
        (newer, r"result.json: format 2 is not one that this mptcplab reads \(1\)"),
    ],
)
def test_a_folder_that_is_not_a_result_is_refused_in_a_sentence(
    tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(tmp_path / "out")
    with pytest.raises(RecordingError, match=message):
        Result.open(tmp_path / "out")


def test_a_folder_without_a_manifest_is_not_a_recording(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"not a recording: it holds neither manifest\.json"):
        Recording.open(tmp_path)


def test_a_manifest_with_a_wrong_value_is_named_by_its_key(tmp_path: Path) -> None:
    record(tmp_path / "r", {})
    path = tmp_path / "r" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"protocol": "sctp"}))
    with pytest.raises(RecordingError, match=r"manifest\.json: protocol: Input should be 'tcp'"):
        Recording.open(tmp_path / "r")


def truncate_table(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def scribble_table(path: Path) -> None:
    path.write_bytes(b"not a table at all")


def foreign_table(path: Path) -> None:
    pl.DataFrame({"colour": ["red"]}).write_parquet(path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (Path.unlink, r"events\.parquet: the table is missing"),
        (truncate_table, r"events\.parquet: the table is damaged: "),
        (scribble_table, r"events\.parquet: the table is damaged: "),
        (foreign_table, r"events\.parquet: the column t_ns is missing"),
    ],
)
def test_a_table_that_cannot_be_read_is_an_error_that_names_it(
    tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    recording = record(tmp_path / "r", {"events": [{"t_ns": 1}]})
    spoil(tmp_path / "r" / "events.parquet")
    with pytest.raises(RecordingError, match=message):
        recording.frame("events")


def test_data_damaged_inside_a_table_is_an_error_that_names_it(tmp_path: Path) -> None:
    recording = record(tmp_path / "r", {"events": [{"t_ns": n} for n in range(1000)]})
    path = tmp_path / "r" / "events.parquet"
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"events\.parquet: the table is damaged: "):
        recording.frame("events")


@pytest.mark.parametrize("package", ["recording", "metrics", "report"])
def test_importing_a_package_loads_no_heavy_library(package: str) -> None:
    heavy = {"polars", "matplotlib", "numpy", "pydantic", "rich", "jinja2"}
    code = f"import sys, mptcplab.{package}; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


def test_a_recording_by_itself_is_a_result_of_one_run(tmp_path: Path) -> None:
    record(tmp_path / "alone", {}, manifest(variant="tcp", protocol="tcp"))
    for folder in (tmp_path / "alone", str(tmp_path / "alone")):
        opened = Result.open(folder)
        assert opened.description.scenario.name == "test/hand"
        assert [(one.name, one.protocol) for one in opened.variants] == [("tcp", "tcp")]
        (recording,) = opened.recordings("tcp")
        assert recording.folder == tmp_path / "alone"
        assert opened.without_manifest("tcp") == []


def test_a_recording_of_a_result_is_refused_with_the_result_s_name(tmp_path: Path) -> None:
    result(tmp_path / "out", description([("tcp", "tcp")]))
    record(tmp_path / "out/tcp/1", {}, manifest(variant="tcp", protocol="tcp"))
    told = f"1: not a result: it is one recording; give the result that holds it, {tmp_path}/out$"
    with pytest.raises(RecordingError, match=told):
        Result.open(tmp_path / "out/tcp/1")


def test_columns_that_an_older_recording_lacks_are_null(tmp_path: Path) -> None:
    sample = {"t_ns": 0, "node": "client", "subflow": "10.0.1.1:1-10.0.1.2:2", "busy_us": 5}
    recording = record(tmp_path / "r", {"subflow_samples": [sample]})
    assert recording.subflow_samples["busy_us"].to_list() == [5]
    path = tmp_path / "r" / "subflow_samples.parquet"
    pl.read_parquet(path).drop("busy_us", "snd_buf").write_parquet(path)
    older = Recording.open(tmp_path / "r").subflow_samples
    assert older.columns == recording.subflow_samples.columns
    assert older["busy_us"].to_list() == older["snd_buf"].to_list() == [None]
