"""Reading: what the extension is told, how it is interrupted, and what becomes of the tables."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mptcplab import _native, trace
from mptcplab.cli.app import app
from mptcplab.trace import TraceError

Progress = Callable[[int, int], bool]


class Reader:
    """Stands in for the extension: copies tables, and tells progress in ten steps."""

    def __init__(self, tables: Path) -> None:
        self.tables = tables
        self.calls: list[tuple[list[str], bool, bool, int]] = []
        self.at_half: Callable[[], None] = lambda: None
        self.folder = Path()

    def __call__(
        self,
        files: list[str],
        tables: str,
        packets: bool,
        checksums: bool,
        workers: int,
        progress: Progress,
    ) -> str:
        self.calls.append((files, packets, checksums, workers))
        self.folder = Path(tables)
        if files == ["missing.pcap"]:
            raise _native.TraceError("missing.pcap: No such file or directory")
        shutil.copytree(self.tables, tables, dirs_exist_ok=True)
        interrupted = False
        for step in range(11):
            if step == 5:
                self.at_half()
            if not progress(step * 100, 1000):
                interrupted = True
                break
        description = self.folder / "capture.json"
        found = json.loads(description.read_text()) | {"interrupted": interrupted}
        description.write_text(json.dumps(found))
        return json.dumps(found)


@pytest.fixture
def reader(tables: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    made = Reader(tables)
    monkeypatch.setattr(_native, "trace", made, raising=False)
    if not hasattr(_native, "TraceError"):
        monkeypatch.setattr(_native, "TraceError", type("E", (Exception,), {}), raising=False)
    return made


def test_what_is_asked_for_is_handed_on(reader: Reader) -> None:
    trace.read("a.pcap", workers=3)
    trace.read([Path("a.pcap"), "-"], packets=False, checksums=True, workers=1)
    assert reader.calls == [
        (["a.pcap"], True, False, 3),
        (["a.pcap", "-"], False, True, 1),
    ]
    with pytest.raises(TraceError, match="no file to read"):
        trace.read([])


def test_temporary_tables_go_with_the_trace(reader: Reader) -> None:
    with trace.read("a.pcap") as found:
        assert found.connections.height == 3
        assert reader.folder.is_dir()
    assert not reader.folder.exists()
    assert found.connections.height == 3
    again = trace.read("a.pcap")
    folder = reader.folder
    del again
    assert not folder.exists()


def test_kept_tables_stay_and_are_never_overwritten(reader: Reader, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    trace.read("a.pcap", tables=folder).close()
    assert trace.open_tables(folder).subflows.height == 5
    with pytest.raises(TraceError, match="holds tables already: choose another folder"):
        trace.read("a.pcap", tables=folder)
    assert len(reader.calls) == 1


def test_what_cannot_be_read_is_told_in_its_words(reader: Reader) -> None:
    with pytest.raises(TraceError, match=r"missing\.pcap: No such file or directory"):
        trace.read("missing.pcap")
    assert not reader.folder.exists()


def test_progress_ends_the_reading(reader: Reader) -> None:
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> bool:
        seen.append((done, total))
        return done < 300

    assert trace.read("a.pcap", progress=progress).capture.interrupted
    assert seen == [(0, 1000), (100, 1000), (200, 1000), (300, 1000)]
    assert reader.calls


def test_ctrl_c_shows_what_was_read_and_ends_with_130(reader: Reader) -> None:
    reader.at_half = lambda: os.kill(os.getpid(), signal.SIGINT)
    found = CliRunner().invoke(app, ["trace", "a.pcap", "--json"])
    assert found.exit_code == 130
    assert json.loads(found.stdout)["interrupted"] is True
    assert "interrupted: what was read until then is shown" in found.stderr


def test_packets_are_made_only_where_they_are_needed(reader: Reader, tmp_path: Path) -> None:
    asked: dict[tuple[str, ...], bool] = {
        (): False,
        ("--json",): False,
        ("--events",): False,
        ("--statistics",): True,
        ("--html", str(tmp_path / "a.html")): True,
        ("--tables", str(tmp_path / "t")): True,
    }
    for options, packets in asked.items():
        found = CliRunner().invoke(app, ["trace", "a.pcap", *options])
        assert found.exit_code == 0, found.output
        assert reader.calls[-1][1] is packets, options
    assert (tmp_path / "t" / "packets.parquet").is_file()


def test_mistakes_are_found_before_a_long_reading(reader: Reader) -> None:
    for options in (["--filter", "bites > 1"], ["--from", "x"], ["--connection", "a"]):
        assert CliRunner().invoke(app, ["trace", "a.pcap", *options]).exception is not None
    assert not reader.calls
