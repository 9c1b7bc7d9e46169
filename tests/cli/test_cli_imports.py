"""Commands load large libraries only where they need them, as loading takes long."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from mptcplab.cli.app import app, needed
from mptcplab.scenario import catalogue, load

COMMANDS = [command.name for command in app.registered_commands]
LARGE = ["matplotlib", "polars", "numpy", "jinja2", "rich"]
_CODE = """
import atexit, gc, json, sys
sys.argv = ["mptcplab", *sys.argv[1:]]
def tell():
    collections = sum(one["collections"] for one in gc.get_stats()) - before
    print(json.dumps([collections, sorted(sys.modules)]), file=sys.stderr)
atexit.register(tell)
from mptcplab.cli import main
gc.collect()
before = sum(one["collections"] for one in gc.get_stats())
main()
"""


RUN = ["run", "lisbon/A1", "--engine", "sim", "--repeat", "1", "--duration", "100ms"]


def told(words: list[str], folder: Path) -> tuple[int, list[str]]:
    """How often a command has looked for garbage at its end, and what modules it has loaded."""
    ended = subprocess.run(
        [sys.executable, "-c", _CODE, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    collections, modules = json.loads(ended.stderr.splitlines()[-1])
    return collections, modules


def loaded(words: list[str], folder: Path) -> set[str]:
    """The modules that a command has loaded at its end."""
    return set(told(words, folder)[1])


@pytest.mark.parametrize("command", [["list"], ["check", "lisbon/A1"], ["show", "lisbon/A1"]])
def test_a_command_that_runs_nothing_loads_no_large_library(
    command: list[str], tmp_path: Path
) -> None:
    assert not loaded(command, tmp_path) & set(LARGE)


def test_a_list_loads_no_model_of_scenarios_and_no_parser(tmp_path: Path) -> None:
    assert not loaded(["list"], tmp_path) & {"mptcplab.scenario.model", "ruamel.yaml"}


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        (["list"], ["list"]),
        (["run", "--help"], ["run"]),
        ([], COMMANDS),
        (["--help"], COMMANDS),
        (["chek"], COMMANDS),
    ],
)
def test_of_the_commands_only_the_one_that_is_asked_for_is_made(
    arguments: list[str], made: list[str]
) -> None:
    assert [command.name for command in needed(arguments).registered_commands] == made
    assert [command.name for command in app.registered_commands] == COMMANDS


def test_a_command_of_the_host_program_loads_nothing_before_it() -> None:
    code = """
import os, sys
def execve(path, words, environment):
    print(os.path.basename(path), *words, environment["MPTCPLAB_CALLER_VERSION"])
    print(*sys.modules)
os.execve = execve
sys.argv = ["mptcplab", "nc", "--help"]
from mptcplab.cli import hand_over
hand_over(sys.argv[1:])
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    command, modules = ended.stdout.splitlines()
    assert command == f"mptcplab-host mptcplab-host nc --help {version('mptcplab')}"
    ours = {name for name in modules.split() if name.startswith("mptcplab")}
    assert ours == {"mptcplab", "mptcplab.lazy", "mptcplab.cli", "mptcplab.cli.host_program"}
    assert not set(modules.split()) & {"typer", "pathlib", "json"}


def test_a_run_without_a_page_loads_no_plots(tmp_path: Path) -> None:
    assert not loaded(RUN, tmp_path) & {"matplotlib", "jinja2", "rich.progress"}


@pytest.mark.parametrize("command", [["list"], ["check", "lisbon/A1"], ["show", "lisbon/A1"], RUN])
def test_a_short_command_looks_for_no_garbage(command: list[str], tmp_path: Path) -> None:
    collections, _ = told(command, tmp_path)
    assert collections == 0


def test_the_list_tells_what_the_scenarios_say() -> None:
    for entry in catalogue():
        scenario = load(entry.name)
        assert (entry.title, entry.source) == (scenario.title, scenario.source)
        assert entry.variants == tuple(scenario.variants)
