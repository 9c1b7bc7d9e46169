"""`mptcplab rate-trace`."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mptcplab.cli.app import app

LOG = "Timestamp,DL_bitrate\n0,12032\n1,1203.2\n"


def test_a_trace_is_written_to_a_regular_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("drive.csv").write_text(LOG)
    os.mkfifo("pipe")
    words = ["drive.csv", "--out", "pipe", "--time", "Timestamp", "--rate", "DL_bitrate"]
    result = CliRunner().invoke(app, ["rate-trace", *words])
    assert result.exit_code == 1
    assert "pipe: is no regular file" in str(result.exception)


def test_a_log_becomes_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("drive.csv").write_text(LOG)
    words = ["drive.csv", "--out", "t.mahi", "--time", "Timestamp", "--rate", "DL_bitrate"]
    result = CliRunner().invoke(app, ["rate-trace", *words])
    assert result.exit_code == 0
    assert (
        result.output == "t.mahi: 2 s, 6.62 Mbit/s in the mean; write `trace: t.mahi` in a link\n"
    )
    assert len(Path("t.mahi").read_text().splitlines()) == 1100
