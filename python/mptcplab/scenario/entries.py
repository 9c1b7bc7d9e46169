"""The catalogue: its entries, told without checking their scenarios, which takes long."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path

from mptcplab.scenario.head import plain_head
from mptcplab.scenario.problem import Problem, ScenarioError
from mptcplab.user_file import LARGEST_YAML_BYTES, FileError, read_text

CATALOGUE_SUFFIX = ".yaml"
DEFAULT_VARIANT = "mptcp"
"""The one variant of a scenario that names none."""


@dataclass(frozen=True)
class Entry:
    """A scenario of the catalogue."""

    name: str
    title: str
    source: str
    variants: tuple[str, ...]
    path: Path


def catalogue_folder() -> Path:
    """The folder of the catalogue: `mptcplab/scenarios`, beside the modules in a wheel, too."""
    return Path(__file__).resolve().parents[1] / "scenarios"


def names() -> list[str]:
    """Names in the catalogue, sorted."""
    folder = catalogue_folder()
    files = folder.rglob(f"*{CATALOGUE_SUFFIX}")
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in files)


def catalogue(pattern: str = "*") -> list[Entry]:
    """Read the entries whose name matches a shell pattern or contains it, sorted by name."""
    matching = [name for name in names() if fnmatch.fnmatchcase(name, pattern) or pattern in name]
    return [_entry(name) for name in matching]


def read_scenario(path: Path) -> str:
    """The text of a scenario's file.

    Raises:
        ScenarioError: it cannot be read.

    """
    try:
        return read_text(path, LARGEST_YAML_BYTES)
    except FileError as error:
        raise ScenarioError([Problem(shown(path), None, "", str(error))]) from None


def shown(path: Path) -> str:
    """The path as a user would write it: relative to the working folder where it is below it."""
    try:
        return (
            path.resolve().relative_to(Path.cwd()).as_posix() if path.is_absolute() else str(path)
        )
    except ValueError:
        return str(path)


def _entry(name: str) -> Entry:
    path = catalogue_folder() / f"{name}{CATALOGUE_SUFFIX}"
    text = read_scenario(path)
    tree = plain_head(text)
    if tree is None:
        from mptcplab.scenario.tree import parse_tree

        tree = parse_tree(text, shown(path)).value
    variants = tuple(tree.get("variants") or (DEFAULT_VARIANT,))
    return Entry(name, tree.get("title", ""), tree.get("source", ""), variants, path)
