"""Rows that are kept while a run lasts, and what a reader gets of them."""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.recording.handmade import MILLISECOND, manifest

from mptcplab.recording import RecordingError, reader
from mptcplab.recording.files import publish
from mptcplab.recording.kept_rows import ROWS, KeptRows, RowsFile, read_rows
from mptcplab.recording.manifest import MANIFEST, Lab, Status
from mptcplab.recording.reader import Recording
from mptcplab.recording.tables import TABLES
from mptcplab.recording.unfinished import ERROR
from mptcplab.recording.writer import Writer

PLAN = {
    "nodes": [{"name": "server"}, {"name": "client"}],
    "traffic": [
        {
            "name": "bulk",
            "client": 1,
            "server": 0,
            "protocol": "mptcp",
            "start_ns": 5 * MILLISECOND,
            "workload": {"kind": "bulk"},
        }
    ],
}


def deliveries(*bins: tuple[int, int]) -> list[dict[str, object]]:
    return [
        {
            "record": "deliveries",
            "traffic": "bulk",
            "index": 0,
            "way": "down",
            "t_ns": at * MILLISECOND,
            "bytes": count,
        }
        for at, count in bins
    ]


def lines(*rows: dict[str, object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def begun(folder: Path, pid: int | None = None) -> Writer:
    """A recording of a run that has delivered something, and said a warning."""
    writer = Writer(folder, manifest(plan=PLAN), keeps_rows=True)
    writer.ready(Lab(pid=pid or os.getpid(), nodes={}))
    writer.lines(lines(*deliveries((10, 1000), (20, 500))))
    writer.lines(lines({"record": "warning", "text": "late"}))
    # Longer than what waits in memory.
    writer.lines(lines(*deliveries((30, 250))) * 800)
    return writer


def test_a_run_that_goes_on_can_be_read(tmp_path: Path) -> None:
    begun(tmp_path / "r")
    found = Recording.open(tmp_path / "r")
    assert (found.manifest.status, found.has_tables) == (Status.RUNNING, True)
    assert found.manifest.duration_s == 0.03
    assert found.deliveries.height == 802
    assert found.scan("deliveries").collect()["bytes"].sum() == 1500 + 800 * 250
    assert found.transfers.is_empty(), "it has not ended"
    assert found.deliveries.schema == TABLES["deliveries"].schema


def test_what_was_measured_stays_when_everything_is_killed(tmp_path: Path) -> None:
    writer_pid = os.fork()
    if writer_pid == 0:
        begun(tmp_path / "r")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(writer_pid, 0)
    found = Recording.open(tmp_path / "r")
    assert found.manifest.status is Status.INTERRUPTED
    assert found.manifest.warnings == ("late",)
    row = found.transfers.row(0, named=True)
    assert (row["client"], row["server"], row["way"]) == ("client", "server", "down")
    assert (row["start_ns"], row["end_ns"]) == (5 * MILLISECOND, 40 * MILLISECOND)
    assert (row["bytes"], row["error"]) == (1500 + 800 * 250, ERROR)


def test_a_run_that_ends_while_it_is_opened_has_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = begun(tmp_path / "r")

    def late(folder: Path) -> KeptRows | None:
        writer.finish(Status.COMPLETE, 1.0)
        return read_rows(folder)

    monkeypatch.setattr(reader, "read_rows", late)
    assert Recording.open(tmp_path / "r").manifest.status is Status.COMPLETE


def test_a_line_that_is_cut_does_not_count(tmp_path: Path) -> None:
    begun(tmp_path / "r")
    with (tmp_path / "r" / ROWS).open("ab") as file:
        file.write(lines(*deliveries((40, 1)))[:-3])
    assert Recording.open(tmp_path / "r").deliveries.height == 802


def test_the_file_goes_when_there_are_tables(tmp_path: Path) -> None:
    writer = begun(tmp_path / "r")
    for row in deliveries((10, 1000)):
        writer.row("deliveries", {key: row[key] for key in row if key != "record"})
    writer.finish(Status.COMPLETE, 1.0)
    assert not (tmp_path / "r" / ROWS).exists()
    found = Recording.open(tmp_path / "r")
    assert (found.deliveries.height, found.manifest.status) == (1, Status.COMPLETE)


DAMAGED: list[dict[str, object]] = [
    {"bytes": "x"},
    {"bytes": 1.5},
    {"bytes": 2**70},
    {"bytes": None},
    {"t_ns": None},
    {"t_ns": float("nan")},
    {"traffic": ["x"]},
    {"record": ["x"]},
    {"record": {}},
]
"""Values in the place of those of a delivery."""


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[1]",
        "{}",
        '{"record": "warning"}',
        "[" * 200_000,
        *(json.dumps(deliveries((10, 1))[0] | damage) for damage in DAMAGED),
    ],
    ids=lambda line: line[:20] if line.startswith(("[", "n")) else line,
)
def test_a_foreign_file_is_named_with_the_line(tmp_path: Path, line: str) -> None:
    begun(tmp_path / "r")
    path = tmp_path / "r" / ROWS
    path.write_text(f"{path.read_text().splitlines()[0]}\n{line}\n")
    with pytest.raises(RecordingError, match=r"rows\.jsonl:2: the file is damaged"):
        Recording.open(tmp_path / "r")


def test_where_they_cannot_be_written_a_warning_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    writer = begun(tmp_path / "r")
    monkeypatch.setattr(RowsFile, "add", full)
    writer.lines(b"{}\n")
    writer.lines(b"{}\n")
    assert not (tmp_path / "r" / ROWS).exists()
    (warning,) = writer.finish(Status.COMPLETE, 1.0).warnings
    assert warning == "the rows were not kept while the run lasted: No space left on device"


def test_where_tables_cannot_be_written_a_manifest_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        if path.suffix == ".parquet":
            raise RecordingError(f"{path}: No space left on device")
        publish(path, content)

    writer = begun(tmp_path / "r")
    monkeypatch.setattr("mptcplab.recording.writer.publish", full)
    with pytest.raises(RecordingError, match="No space left"):
        writer.finish(Status.COMPLETE, 1.0)
    assert [path.name for path in (tmp_path / "r").iterdir()] == [MANIFEST]
