"""The tables of docs/architecture.md say exactly who imports whom."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "python" / "mptcplab"
NESTED = ("engine/kernel", "engine/sim")
"""Packages within a package that have a row of their own."""
OURS = "mptcplab-"

Imports = dict[str, set[str]]


def rows(title: str) -> Iterator[list[str]]:
    """The cells of the table whose first column has this title."""
    lines = iter(PAGE.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith(f"| {title} |"):
            break
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def names(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", cell)))


def column(title: str, number: int) -> Imports:
    """A column of a table, by what its first column names."""
    return {names(row[0]).pop(): names(row[number]) for row in rows(title)}


def part(module: str) -> str:
    """The row that a module belongs to: `engine/sim` for `mptcplab.engine.sim.worker`."""
    path = module.removeprefix("mptcplab").strip(".").replace(".", "/")
    nested = [one for one in NESTED if f"{path}/".startswith(f"{one}/")]
    return nested[0] if nested else path.partition("/")[0]


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules of ours that a module imports, wherever in it the statement stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("mptcplab"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "mptcplab":
                yield from (f"mptcplab.{alias.name}" for alias in node.names)
            elif node.module is not None and node.module.startswith("mptcplab."):
                yield node.module


def python_imports() -> Imports:
    found: Imports = {}
    for file in PACKAGE.rglob("*.py"):
        inner = file.relative_to(PACKAGE).with_suffix("")
        own = part(".".join(("mptcplab", *inner.parts)))
        if own != "__init__":
            told = found.setdefault(own, set())
            told |= {part(module) for module in imported(ast.parse(file.read_text()))}
            told -= {own, "__version__"}
    return found


def crates() -> dict[str, dict[str, Any]]:
    """Packages of the workspace, by their folder."""
    asked = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {
        Path(package["manifest_path"]).parent.relative_to(ROOT).as_posix(): package
        for package in json.loads(told)["packages"]
    }


def dependencies(package: dict[str, Any], *kinds: str | None) -> set[str]:
    """The crates of ours that a package depends on."""
    return {
        one["name"].removeprefix(OURS)
        for one in package["dependencies"]
        if one["name"].startswith(OURS) and one["kind"] in kinds
    }


def group(folder: str) -> str:
    return "/".join(folder.split("/")[:2])


def differences(written: Imports, found: Imports) -> list[str]:
    lines = [f"has no row: {one}" for one in sorted(found.keys() - written.keys())]
    lines += [f"is not there: {one}" for one in sorted(written.keys() - found.keys())]
    for one in sorted(found.keys() & written.keys()):
        lines += [f"{one} imports {other}: write it" for other in sorted(found[one] - written[one])]
        lines += [
            f"{one} does not import {other}: take it out"
            for other in sorted(written[one] - found[one])
        ]
    return lines


def same(title: str, written: Imports, found: Imports) -> None:
    told = differences(written, found)
    assert not told, (
        f"docs/architecture.md, table of each {title}, is not what the code does. If the import is "
        "meant, correct the table; if it leads up, move what is imported:\n" + "\n".join(told)
    )


def test_each_package_imports_what_its_row_says() -> None:
    same("package", column("package", 2), python_imports())


def test_each_crate_imports_what_its_row_says() -> None:
    found = {folder: dependencies(package, None, "build") for folder, package in crates().items()}
    same("crate", column("crate", 2), found)


def test_the_tests_of_each_crate_import_what_its_row_says() -> None:
    found = {
        folder: dependencies(package, "dev") - dependencies(package, None)
        for folder, package in crates().items()
    }
    same("crate (its tests)", column("crate", 3), found)


def test_each_group_of_crates_imports_what_its_row_says() -> None:
    packages = crates()
    group_of = {
        package["name"].removeprefix(OURS): group(folder).removeprefix("crates/")
        for folder, package in packages.items()
    }
    found: Imports = {group(folder): set() for folder in packages}
    for folder, package in packages.items():
        used = {group_of[name] for name in dependencies(package, None, "build", "dev")}
        found[group(folder)] |= used - {group(folder).removeprefix("crates/")}
    same("group", column("group", 2), found)


@pytest.mark.parametrize("title", ["package", "group", "crate"])
def test_no_row_imports_one_below_it(title: str) -> None:
    above = {"_native"}
    for name, imports in column(title, 2).items():
        own = {inner for inner in NESTED if inner.startswith(f"{name}/")}
        assert imports - own <= above, f"{name} imports up: {imports - own - above}"
        above.add(name if title == "package" else name.rpartition("/")[2])


def test_only_the_functions_for_notebooks_are_called_by_name() -> None:
    calls = [
        called
        for file in PACKAGE.rglob("*.py")
        for called in re.findall(r'lazy\.call\(\s*"([^"]+)"', file.read_text())
    ]
    assert calls
    assert {called.rpartition(".")[0] for called in calls} == {"mptcplab.report.notebook"}


def test_differences_are_told_with_what_to_do() -> None:
    written = {"a": {"b"}, "c": set[str]()}
    found = {"a": {"d"}, "e": set[str]()}
    assert differences(written, found) == [
        "has no row: e",
        "is not there: c",
        "a imports d: write it",
        "a does not import b: take it out",
    ]
