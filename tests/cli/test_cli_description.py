"""Shells and manuals are told the same commands and options as `--help`."""

import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.engine.launch import REPOSITORY, run

from mptcplab.cli.app import app
from mptcplab.cli.command_table import table
from mptcplab.cli.host_program import COMMANDS, VERSION

COMPLETED = """\
. ./mptcplab.bash
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_mptcplab mptcplab "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(words: str, folder: Path) -> list[str]:
    """The words that bash offers for the last one."""
    if not (folder / "mptcplab.bash").exists():
        script = run(["completion", "bash"], folder)
        assert (script.returncode, script.stderr) == (0, "")
        (folder / "mptcplab.bash").write_text(script.stdout)
    ended = subprocess.run(
        ["bash", "-c", COMPLETED.format(words=words)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("completion")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("mptcplab ru", ["run"]),
        ("mptcplab run --en", ["--engine"]),
        ("mptcplab run --engine k", ["kernel"]),
        ("mptcplab completi", ["completion"]),
        ("mptcplab subflows --ev", ["--every"]),
        ("mptcplab cc loa", ["load"]),
        ("mptcplab server plan ad", ["add"]),
        ("mptcplab server enrol --ex", ["--expires"]),
        ("mptcplab ma", []),
    ],
)
def test_bash_completes_commands_options_and_words(
    words: str, offered: list[str], folder: Path
) -> None:
    assert completed(words, folder) == offered


@pytest.mark.parametrize("shell", ["bash", "elvish", "fish", "powershell", "zsh"])
def test_every_shell_has_a_script(shell: str, tmp_path: Path) -> None:
    ended = run(["completion", shell], tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "engine" in ended.stdout


def test_a_shell_without_a_script_is_named(tmp_path: Path) -> None:
    ended = run(["completion", "csh"], tmp_path)
    assert ended.returncode == 2
    assert "'csh'" in ended.stderr


def test_the_manual_has_a_page_for_each_command(tmp_path: Path) -> None:
    ended = run(["man", "man1"], tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    pages = {page.name for page in (tmp_path / "man1").iterdir()}
    _, commands = table(app)
    assert {f"mptcplab-{command.name}.1" for command in commands} <= pages
    assert {"mptcplab-server-enrol.1", "mptcplab-server-plan-add.1"} <= pages
    page = (tmp_path / "man1/mptcplab-run.1").read_text()
    assert "Seed of all that is random" in page


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    ended = run(["man", "taken"], tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("taken: ")


def test_the_table_has_no_options_of_the_host_program() -> None:
    _, commands = table(app)
    assert {command.name for command in commands if command.is_of_host} == set(COMMANDS)
    assert all(not command.arguments for command in commands if command.is_of_host)


def test_this_package_and_the_host_program_have_one_version() -> None:
    cargo = tomllib.loads((REPOSITORY / "Cargo.toml").read_text())
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert VERSION == cargo["workspace"]["package"]["version"] == project["project"]["version"]
