"""The names that a package loads when they are first used stand in three lists, which agree."""

import ast
import importlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "mptcplab"
LAZY = sorted(
    file for file in PACKAGE.rglob("__init__.py") if "lazy.names(" in file.read_text("utf-8")
)


def imported(body: list[ast.stmt]) -> set[str]:
    """The names that statements import."""
    found = [one for one in body if isinstance(one, ast.ImportFrom)]
    return {alias.asname or alias.name for one in found for alias in one.names}


def checked(tree: ast.Module) -> set[str]:
    """The names that are imported for whoever checks types."""
    return {
        name
        for one in tree.body
        if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"
        for name in imported(one.body)
    }


def loaded(tree: ast.Module) -> set[str]:
    """The names that are loaded when they are first used."""
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    (call,) = (one for one in calls if ast.unparse(one.func) == "lazy.names")
    return set(ast.literal_eval(call.args[1]))


@pytest.mark.parametrize("file", LAZY, ids=lambda file: str(file.parent.relative_to(PACKAGE)))
def test_the_lists_of_names_agree(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    inner = file.parent.relative_to(PACKAGE).parts
    package = importlib.import_module(".".join(("mptcplab", *inner)))
    assert checked(tree) == loaded(tree)
    assert loaded(tree) <= set(package.__all__) <= loaded(tree) | imported(tree.body)
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
