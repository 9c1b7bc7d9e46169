"""The output of commands does nothing to a terminal, and a failing output is one message."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.launch import COMMAND, TIME_LIMIT_S, environment, run

from mptcplab.cli.scenarios import list_scenarios
from mptcplab.printable import printable
from mptcplab.scenario import ScenarioError, loads

TITLE = "a\x1b[31mred\x1b]0;owned\x07\x7f\u202e\u009b"
ESCAPED = r"a\x1b[31mred\x1b]0;owned\x7f\u202e\x9b"
"""The library that draws tables leaves the bell out."""
SCENARIO = """\
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 2 ms}}
traffic: [{bulk: {from: client, to: server, way: up, duration: 200 ms}}]
"""
FULL = "standard output: cannot be written: No space left on device\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario and its result, whose title is hostile."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "x.yaml").write_text(f"title: harmless\n{SCENARIO}")
    ended = run(["run", "x.yaml", "--engine", "sim", "--repeat", "1", "--out", "out"], folder)
    assert ended.returncode == 0, ended.stderr
    result = folder / "out/result.json"
    told = json.loads(result.read_text())
    told["scenario"]["title"] = TITLE
    result.unlink()
    result.write_text(json.dumps(told))
    return folder


def on_terminal(words: list[str], folder: Path) -> str:
    """The bytes that the command writes to a terminal."""
    screen, ours = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *words], cwd=folder, env=environment(folder), stdout=ours, stderr=ours
    )
    os.close(ours)
    shown = b""
    try:
        while part := os.read(screen, 1 << 16):
            shown += part
    except OSError:
        # The terminal's last user has gone.
        pass
    os.close(screen)
    assert process.wait(TIME_LIMIT_S) == 0, shown
    return shown.decode()


def test_a_recording_s_title_does_nothing_to_the_terminal(home: Path) -> None:
    shown = on_terminal(["report", "out"], home)
    assert ESCAPED in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "\x1b[1m" in shown, "the report's own styles do reach it"
    for harmful in ("\x1b[31m", "\x1b]", "\x07", "\x7f", "\u202e", "\u009b"):
        assert harmful not in shown


def test_json_stays_json(home: Path) -> None:
    ended = run(["report", "out", "--json"], home)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["title"] == TITLE
    assert ended.stdout.isascii()
    assert "\x7f" not in ended.stdout


def test_redirected_tables_have_no_blanks_around_them(home: Path) -> None:
    ended = run(["report", "out"], home)
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("x — ")
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize(
    "words",
    [["list"], ["report", "out"], ["show", "x.yaml", "--json"], ["check", "x.yaml"], ["--version"]],
)
def test_a_full_standard_output_is_one_line(home: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [COMMAND, *words],
            cwd=home,
            env=environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (ended.returncode, ended.stderr) == (1, FULL)


def test_a_full_standard_error_ends_with_the_status_alone(home: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [COMMAND, "check", "nowhere.yaml"], cwd=home, stdout=full, stderr=full
        )
    assert ended.returncode == 1


def test_a_reader_that_has_enough_is_no_failure(home: Path) -> None:
    words = f"{COMMAND} list | head -n 1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", words], cwd=home, env=environment(home), capture_output=True, text=True
    )
    assert ended.stdout.splitlines()[1:] == ["0"]
    assert ended.stderr == ""


def test_an_encoding_without_the_characters_gets_them_escaped(home: Path) -> None:
    env = environment(home, PYTHONIOENCODING="ascii")
    for words in (["report", "out"], ["show", "lisbon/A1"]):
        ended = run(words, home, env=env)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.isascii()
    assert r"x \u2014 a" in run(["report", "out"], home, env=env).stdout


def test_file_names_that_are_no_text_can_be_told(home: Path) -> None:
    name = os.fsdecode(b"caf\xe9.yaml")
    (home / name).write_text(f"name: named\n{SCENARIO}")
    ended = run(["check", name], home)
    assert (ended.returncode, ended.stdout) == (0, "caf\\udce9.yaml: good\n")


@pytest.mark.parametrize(
    ("character", "shown"),
    [(r"\x1b", r"\x1b"), (r"\ud800", r"\ud800"), (r"\u202e", r"\u202e"), (r"\r", r"\x0d")],
)
@pytest.mark.parametrize(("key", "line"), [("title", 1), ("source", 2)])
def test_a_scenario_s_texts_are_printable(character: str, shown: str, key: str, line: int) -> None:
    text = f'{"x: y" if line == 1 else "title: x"}\n{key}: "a{character}b"\n{SCENARIO}'
    text = text.removeprefix("x: y\n")
    with pytest.raises(ScenarioError) as raised:
        loads(text, "x.yaml")
    assert str(raised.value) == (
        f"x.yaml:{line}: {key}: holds {shown}, which cannot be printed: take it out"
    )


def test_a_key_is_printable_too() -> None:
    with pytest.raises(ScenarioError) as raised:
        loads(f'links: {{"a\\x1b": 1}}\n{SCENARIO}', "x.yaml")
    told = "x.yaml:1: links: holds \\x1b, which cannot be printed: take it out"
    assert str(raised.value) == told


def test_a_title_of_several_lines_stays_good() -> None:
    assert loads(f"title: |\n  one\n  \ttwo\n{SCENARIO}").title == "one\n\ttwo\n"


def test_ordinary_text_is_left_alone() -> None:
    text = "Grüße, 5 µs → 3 ± 1 — 漢字 🎉\n\t"
    assert printable(text) == text
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    kept = [c for c in printable(every) if not c.isprintable() and ord(c) < 0xA0]
    assert kept == ["\t", "\n"]


def test_a_list_names_some_of_many_variants(capsys: pytest.CaptureFixture[str]) -> None:
    list_scenarios("birzeit/short-unequal", as_json=False)
    line = capsys.readouterr().out
    assert line.endswith(", and 30 more]\n")
    assert line.count(", ") == 12
