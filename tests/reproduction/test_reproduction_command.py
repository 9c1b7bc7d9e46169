"""`mptcplab reproduce`: a figure run and shown, gone on with, and mistakes in its words."""

import fcntl
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.metrics import compare
from mptcplab.recording import RecordingError, Result
from mptcplab.reproduction import expected, reading
from mptcplab.reproduction.figures import figures
from mptcplab.reproduction.folder import LOCK, MADE, RECORDINGS, opened
from mptcplab.reproduction.manner import Manner

PAGE = Path(__file__).parents[2] / "docs" / "reproduction" / "README.md"
SIMULATED = Manner("sim")
QUICK = ["reproduce", "lisbon", "--figure", "6.16", "--quick", "--workers", "1"]


def called(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mptcplab", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reproduction of one figure."""
    place = tmp_path_factory.mktemp("reproduction")
    ended = called([*QUICK, "--out", "out", "--fail"], place)
    assert ended.returncode == 0, ended.stderr
    assert "runs found: 0, done: 2" in ended.stderr
    assert "< 0.500" in ended.stdout
    return place / "out"


def test_the_page_shows_both_figures_and_their_mark(folder: Path) -> None:
    page = (folder / "lisbon-figure-6.16.html").read_text(encoding="utf-8")
    assert "<strong>Quick:</strong>" in page
    assert "&lt; 0.500" in page
    assert "= agrees" in page
    assert "<svg" in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)


def test_the_json_has_the_same_figures(folder: Path) -> None:
    told = json.loads((folder / "lisbon-figure-6.16.json").read_text(encoding="utf-8"))
    (item,) = told["items"]
    cell = item["rows"][0][1]
    assert (cell["document"], cell["at_most"], cell["mark"]) == (0.5, True, "agrees")
    assert cell["mean"] == cell["samples"][0] < 0.5
    assert told["counts"]["differs, no reason given"] == 0
    assert told["quick"] is True


def test_several_figures_and_a_table_make_one_page(folder: Path) -> None:
    more = ["--table", "6.5", "--figure", "6.15", "--figure", "6.16", "--out", "out"]
    ended = called([*QUICK, *more], folder.parent)
    assert ended.returncode == 0, ended.stderr
    told = json.loads((folder / "lisbon-table-6.5-figure-6.16-6.15.json").read_text("utf-8"))
    assert [item["number"] for item in told["items"]] == ["6.5", "6.16", "6.15"]


def test_packets_of_a_capture_are_told_by_address(tmp_path: Path) -> None:
    words = ["reproduce", "carfi", "--table", "2", "--quick", "--out", "out"]
    ended = called(words, tmp_path)
    assert ended.returncode == 0, ended.stderr
    (item,) = json.loads((tmp_path / "out/carfi-table-2.json").read_text("utf-8"))["items"]
    ((head, server, *clients),) = [listing["lines"] for listing in item["listings"]]
    assert head.split()[:2] == ["IP", "count"]
    # 10 MB in segments of at most 1428 bytes.
    assert sum(int(line.split()[1]) for line in clients) > 10_000_000 / 1428
    assert (server.split()[0], server.split()[3]) == ("10.0.4.7", "100.00%")
    page = (tmp_path / "out/carfi-table-2.html").read_text("utf-8")
    assert f"<pre>{head}\n{server}\n" in page


def keys(value: object, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{place}{key}"
            if key in ("items", "says"):
                yield from keys(inner, f"{place}{key}[].")
            if key == "differs" and not inner:
                yield from (
                    f"differs[].{one}" for one in ("name", "mean", "half_width", "expected")
                )
            if key == "rows":
                yield from keys([cell for row in inner for cell in row], "")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, place)


def test_every_key_is_documented(folder: Path) -> None:
    told = json.loads((folder / "lisbon-figure-6.16.json").read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8").partition("## JSON")[2]
    rows = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert set(keys(told, "")) == rows


def test_the_same_command_does_nothing_twice(folder: Path) -> None:
    page = (folder / "lisbon-figure-6.16.html").read_text(encoding="utf-8")
    ended = called([*QUICK, "--out", "out"], folder.parent)
    assert "runs found: 2, done: 0" in ended.stderr
    assert (folder / "lisbon-figure-6.16.html").read_text(encoding="utf-8") == page


def test_what_was_interrupted_is_run_again(folder: Path) -> None:
    manifest = folder / "recordings" / "lisbon-F5" / "mptcp" / "1" / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(told | {"status": "interrupted"}), encoding="utf-8")
    assert set(figures(compare(Result.open(folder / RECORDINGS / "lisbon-F5")))) == {"tcp"}
    ended = called([*QUICK, "--out", "out", "--json"], folder.parent)
    assert "runs found: 1, done: 1" in ended.stderr
    assert json.loads(ended.stdout)["document"] == "lisbon"
    assert json.loads(manifest.read_text(encoding="utf-8")) == told


def test_a_folder_of_another_manner_is_refused(folder: Path) -> None:
    ended = called([*QUICK, "--out", "out", "--seed", "2"], folder.parent)
    assert ended.returncode == 1
    assert ended.stderr == "out: was made with seed 1, not 2: choose another folder\n"


def test_a_damaged_description_is_named(tmp_path: Path) -> None:
    (tmp_path / "reproduction.json").write_text("[]")
    ended = called([*QUICK, "--out", "."], tmp_path)
    assert ended.stderr == "reproduction.json: cannot be read: it holds no object\n"


def test_a_second_one_in_the_same_folder_is_refused(folder: Path) -> None:
    with (folder / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = called([*QUICK, "--out", "out"], folder.parent)
    assert ended.returncode == 1
    assert ended.stderr == ("out: another reproduction goes on in this folder: wait for its end\n")
    assert called([*QUICK, "--out", "out"], folder.parent).returncode == 0


WORDS = "cannot be read|was made with"


@settings(deadline=None)
@given(st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_description_is_refused_in_words(made: bytes | str) -> None:
    content = made if isinstance(made, bytes) else made.encode()
    with TemporaryDirectory() as out:
        path = Path(out, MADE)
        path.write_bytes(content)
        with pytest.raises(RecordingError, match=WORDS), opened(path.parent, SIMULATED):
            pass


@pytest.mark.parametrize("made", ["[" * 100_000, '{"seed": ' * 100_000, "{}", "1e999", "NaN"])
def test_a_nested_or_empty_description_is_refused(made: str, tmp_path: Path) -> None:
    (tmp_path / MADE).write_text(made)
    with pytest.raises(RecordingError), opened(tmp_path, SIMULATED):
        pass


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("of a user")
    ended = called([*QUICK, "--out", "out"], tmp_path)
    assert ended.stderr == "out: holds no reproduction.json: choose another folder\n"


def test_a_command_that_was_killed_as_it_began_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    (tmp_path / RECORDINGS).mkdir()
    with opened(tmp_path, SIMULATED):
        assert (tmp_path / MADE).exists()


def test_a_foreign_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("of a user", encoding="utf-8")
    ended = called([*QUICK, "--out", "."], tmp_path)
    assert ended.stderr == ".: holds no reproduction.json: choose another folder\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["lisbn"], "there is no document 'lisbn': did you mean \"lisbon\"?"),
        (["lisbon", "--table", "6.44"], "lisbon has no table '6.44': did you mean \"6.4\"?"),
        (["lisbon", "--figure", "6.4"], "lisbon has no figure '6.4': did you mean \"6.14\"?"),
        (["lisbon", "--table", "6.4", "--table", "7"], "lisbon has no table '7': known: 6.1,"),
        (["--table", "6.4"], "--table and --figure are of one document: name it"),
        (["lisbon", "--duration", "long"], "--duration: a time is a number with a unit, such as"),
        (["lisbon", "--width", "wide"], "--width 'wide': give a width of 1 to 40 inches, such as"),
    ],
)
def test_a_mistake_is_one_line(words: list[str], told: str, tmp_path: Path) -> None:
    ended = called(["reproduce", *words], tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith(told)
    assert ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


RED = """
name: red
title: a document
about: it
quick: 100 ms
items:
  - table: "1"
    section: "1"
    caption: a table
    columns: [throughput]
    rows:
      - [{scenario: lisbon/D1, here: tcp.goodput * 2, document: 1 Mbit/s}]
"""


def test_a_difference_without_a_reason_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "red.yaml").write_text(RED, encoding="utf-8")
    monkeypatch.setattr(reading, "FOLDER", tmp_path)
    monkeypatch.setattr(reading, "ORDER", ("red",))
    words = ["reproduce", "red", "--quick", "--out", str(tmp_path / "out")]
    ended = CliRunner().invoke(app, [*words, "--fail"])
    assert ended.exit_code == 3, ended.output
    assert CliRunner().invoke(app, words).exit_code == 0
    page = (tmp_path / "out" / "red.html").read_text(encoding="utf-8")
    assert '<span class="red">✗ differs, no reason given</span>' in page


def test_a_figure_that_is_not_the_explained_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = RED.replace("1 Mbit/s}", "1 Mbit/s, note: half of it is sent twice for a good reason}")
    (tmp_path / "red.yaml").write_text(own, encoding="utf-8")
    known = tmp_path / "red-sim.yaml"
    monkeypatch.setattr(reading, "FOLDER", tmp_path)
    monkeypatch.setattr(reading, "ORDER", ("red",))
    monkeypatch.setattr(expected, "FOLDER", tmp_path)
    words = ["reproduce", "red", "--quick", "--out", str(tmp_path / "out"), "--fail"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert "differs, figure not expected" in (tmp_path / "out" / "red.html").read_text("utf-8")
    for figure, status, mark in (
        ("87.5 ± 1", 0, "≠ differs"),
        ("60", 3, "✗✗ differs, and not as explained"),
    ):
        known.write_text(f"--quick:\n  lisbon/D1:\n    tcp.goodput * 2: {figure}\n", "utf-8")
        assert CliRunner().invoke(app, words).exit_code == status
        assert mark in (tmp_path / "out" / "red.html").read_text("utf-8")
    assert "where 57.0 to 63.0 was expected" in (tmp_path / "out" / "red.html").read_text("utf-8")
