"""Files that the writer leaves behind, and requests that it refuses."""

import json
import os
import re
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.recording.handmade import manifest

from mptcplab.recording import files
from mptcplab.recording import writer as writer_module
from mptcplab.recording.errors import RecordingError
from mptcplab.recording.files import publish
from mptcplab.recording.manifest import Lab, Status
from mptcplab.recording.reader import Recording
from mptcplab.recording.tables import TABLES
from mptcplab.recording.writer import Writer


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_finished_recording_holds_every_table_and_the_manifest_and_nothing_else(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "mptcp" / "1"
    Writer(folder, manifest()).finish(Status.COMPLETE, 20.0)
    assert names(folder) == sorted([f"{table}.parquet" for table in TABLES] + ["manifest.json"])


def test_rows_come_back_as_they_were_given_and_what_was_not_given_is_null(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "r", manifest())
    writer.line('{"record": "events", "t_ns": 5, "kind": "link", "subject": "eth", "label": "x"}')
    writer.line(b'{"record": "events", "t_ns": 6, "kind": null}')
    writer.row("connection_samples", {"write_seq": 2**64 - 1, "fallback": True})
    writer.finish(Status.COMPLETE, 20.0)
    recording = Recording.open(tmp_path / "r")
    assert recording.frame("events").rows() == [(5, "link", "eth", "x"), (6, None, None, None)]
    assert recording.frame("connection_samples").select(
        "write_seq", "fallback", "token"
    ).rows() == [(2**64 - 1, True, None)]
    assert recording.frame("latencies").schema == TABLES["latencies"].schema


def test_a_table_is_the_same_file_however_its_rows_were_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for packed in (1, 3, 7, 100):
        monkeypatch.setattr(writer_module, "PACKED_ROWS", packed)
        writer = Writer(tmp_path / str(packed), manifest())
        for number in range(7):
            writer.row("events", {"t_ns": number, "label": f"event {number}" if number else None})
        writer.finish(Status.COMPLETE, 20.0)
        files.append((tmp_path / str(packed) / "events.parquet").read_bytes())
        recording = Recording.open(tmp_path / str(packed))
        assert recording.frame("events")["t_ns"].to_list() == list(range(7))
    assert len(set(files)) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"record": "event", "t_ns": 1}', "unknown table 'event'"),
        ('{"record": "events", "time": 1}', "table 'events' has no column time"),
        ('{"record": "events", "t_ns": "1"}', "events.t_ns: '1' is not a signed 64-bit integer"),
        ('{"record": "events", "t_ns": 1.0}', "events.t_ns: 1.0 is not a signed 64-bit integer"),
        ('{"record": "events", "t_ns": true}', "events.t_ns: True is not a signed 64-bit integer"),
        (
            '{"record": "events", "t_ns": 9223372036854775808}',
            "events.t_ns: 9223372036854775808 is not a signed 64-bit integer",
        ),
        ('{"record": "transfers", "fallback": 1}', "transfers.fallback: 1 is not true or false"),
    ],
)
def test_a_row_that_does_not_fit_is_an_error_that_names_it(
    tmp_path: Path, line: str, message: str
) -> None:
    writer = Writer(tmp_path / "r", manifest())
    with pytest.raises(ValueError, match=message):
        writer.line(line)


def test_while_it_runs_the_folder_holds_only_the_running_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    writer = Writer(folder, manifest())
    writer.row("events", {"t_ns": 1})
    assert names(folder) == []
    writer.ready(Lab(pid=os.getpid(), nodes={"client": os.getpid()}))
    assert names(folder) == ["running.json"]
    written = json.loads((folder / "running.json").read_text())
    assert written["status"] == "running"
    assert written["lab"] == {"pid": os.getpid(), "nodes": {"client": os.getpid()}}


def test_warnings_are_kept_once_each_in_their_order(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "r", manifest(warnings=("first",)))
    for sentence in ("second", "first", "second"):
        writer.warn(sentence)
    assert writer.finish(Status.FAILED, 1.0).warnings == ("first", "second")
    assert Recording.open(tmp_path / "r").manifest.status is Status.FAILED


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Lets no file of this process grow larger."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_table_that_cannot_be_written_leaves_a_manifest_that_names_it(
    tmp_path: Path, is_seen: bool
) -> None:
    folder = tmp_path / "r"
    writer = Writer(folder, manifest(warnings=("first",)))
    if is_seen:
        writer.ready(Lab(pid=os.getpid(), nodes={}))
    for number in range(5000):
        writer.row("latencies", {"rtt_ns": number * number * number})
    named = f"{folder}/latencies.parquet: cannot be written: File too large"
    with files_of_at_most(8000), pytest.raises(RecordingError, match=f"^{re.escape(named)}$"):
        writer.finish(Status.COMPLETE, 20.0)
    assert names(folder) == ["manifest.json"]
    left = Recording.open(folder).manifest
    assert (left.status, left.duration_s, left.lab) == (Status.FAILED, 20.0, None)
    assert left.warnings == ("first", named)


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(RecordingError, match=r"holds notes\.txt already; choose an empty folder"):
        Writer(tmp_path, manifest())


def test_a_kill_in_the_middle_of_a_file_leaves_no_file(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        write = os.write

        def write_a_part_and_die(file: int, content: memoryview) -> int:
            write(file, content[:1000])
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

        files.os.write = write_a_part_and_die  # type: ignore[attr-defined]
        publish(tmp_path / "table.parquet", b"x" * 4000)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert names(tmp_path) == []


def test_a_file_without_unnamed_files_is_written_whole_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_publish_unnamed", lambda *_: False)
    publish(tmp_path / "table.parquet", b"abc")
    assert names(tmp_path) == ["table.parquet"]
    assert (tmp_path / "table.parquet").read_bytes() == b"abc"


@pytest.mark.parametrize("unnamed", [True, False])
def test_a_file_is_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unnamed: bool
) -> None:
    if not unnamed:
        monkeypatch.setattr(files, "_publish_unnamed", lambda *_: False)
    publish(tmp_path / "f", b"first")
    with pytest.raises(RecordingError, match="exists already"):
        publish(tmp_path / "f", b"second")
    assert names(tmp_path) == ["f"]
    assert (tmp_path / "f").read_bytes() == b"first"
