"""Folders in place of files: captures, recordings, tables; and whose clock they have."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.trace.handmade import captures
from tests.trace.handmade.captures import Frame
from tests.trace.handmade.talks import TALKS
from typer.testing import CliRunner, Result

from mptcplab.cli.app import app, main


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _json(*arguments: object) -> dict[str, Any]:
    result = _run("trace", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def _refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["mptcplab", "trace", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 1
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated run's recording with captures of both hosts."""
    out = tmp_path_factory.mktemp("run") / "handover"
    result = _run(
        "run", "lisbon/A4-overlap", "--engine", "sim", "--variant", "mptcp", "--repeat", 1,
        "--duration", "500ms", "--capture", "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return out / "mptcp" / "1"


def _split(folder: Path) -> list[Path]:
    """A talk, of which two files have each second packet, one of them compressed."""
    frames: list[Frame] = list(TALKS["v1"]().frames)
    return [
        captures.write(folder / "even.pcap", captures.pcap(frames[::2])),
        captures.write(folder / "odd.pcapng.gz", captures.pcapng(frames[1::2])),
    ]


def test_a_folder_stands_for_all_captures_in_it(tmp_path: Path) -> None:
    files = _split(tmp_path)
    (tmp_path / "notes.txt").write_text("no capture\n")
    found = _json(tmp_path)
    assert [file["path"] for file in found["files"]] == [str(file) for file in files]
    assert found == _json(*files)


def test_tables_in_a_folder_win(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    _split(folder)
    assert _run("trace", folder, "--tables", folder).exit_code == 0
    (folder / "even.pcap").write_bytes(b"no capture")
    assert len(_json(folder)["connections"]) == 1


def test_a_folder_without_captures_is_told_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _refused(capsys, tmp_path) == (
        f"{tmp_path}: holds neither the tables of an analysis (capture.json) nor captures (*.pcap, "
        "*.pcapng, *.cap, also compressed)\n"
    )
    (tmp_path / "manifest.json").write_text("{}")
    assert _refused(capsys, tmp_path).endswith("also compressed): run with --capture\n")


def test_a_recording_stands_for_both_ends_by_one_clock(recording: Path) -> None:
    found = _json(recording)
    client = sorted(str(path) for path in recording.glob("client-*.pcapng"))
    server = sorted(str(path) for path in recording.glob("server-*.pcapng"))
    assert (len(client), len(server)) == (2, 2)
    assert [file["path"] for file in found["files"]] == client
    pair = found["pair"]
    assert pair["files"] == server
    clock = pair["clock"]
    assert (clock["same"], clock["offset_ns"], clock["drift_ppm"]) == (True, 0, 0)
    assert pair["negative_delays"] == 0
    assert {row["connection"] for row in pair["subflows"]} == {0}
    named = [option for file in server for option in ("--peer", file)]
    assert _json(*client, *named) == found
    # Another clock is looked for where that is asked for: the truth is within what is told.
    other = _json(*client, *named, "--clock", "other")["pair"]["clock"]
    assert other["same"] is False
    assert abs(other["offset_ns"]) <= other["offset_uncertainty_ns"]


def test_captures_that_were_moved_have_a_clock_that_is_not_known(
    recording: Path, tmp_path: Path
) -> None:
    for path in recording.glob("*.pcapng"):
        os.link(path, tmp_path / path.name)
    client = sorted(tmp_path.glob("client-*"))
    named = [option for file in tmp_path.glob("server-*") for option in ("--peer", file)]
    assert _json(*client, *named)["pair"]["clock"]["same"] is False
    assert _json(*client, *named, "--clock", "same")["pair"]["clock"]["same"] is True


def test_captures_of_more_hosts_are_to_be_named(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((recording / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    for name in ("client-wifi", "server-eth", "ap-lan"):
        (tmp_path / f"{name}.pcapng").write_bytes(b"")
    assert _refused(capsys, tmp_path) == (
        f"{tmp_path}: holds captures of client, server, ap: name the files of one of them, and "
        "those of another one by --peer\n"
    )


def test_a_wrong_clock_is_told_before_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.pcap"
    assert _refused(capsys, missing, "--clock", "sme") == "--clock: 'sme': write same or other\n"
    assert _refused(capsys, missing, "--clock", "same") == (
        "--clock: is about two captures: name the other one by --peer\n"
    )
