"""Comments and docstrings begin with a noun or a verb for the thing that they describe."""

import re

from tests.docs.pages import ROOT
from tests.docs.sources import sources

BEGINNING = re.compile(r'^\s*(?://[/!]?|#+|/?\*+|"""|<!--)\s?(?:What|Who|Nobody)\b.*', re.MULTILINE)
"""A line of a comment, or the first of a docstring, that does not."""

SUFFIXES = (".py", ".pyi", ".rs", ".c", ".h", ".toml", ".yaml")


def test_a_line_is_found_in_whatever_language() -> None:
    lines = (
        "# What runs.",
        "    /// Who may.",
        "//! Nobody",
        "/* What a map holds. */",
        ' * What is left\n"""What it is."""',
    )
    assert [len(BEGINNING.findall(line)) for line in lines] == [1, 1, 1, 1, 2]
    assert BEGINNING.findall("# Whatever\n// how what\nx = 1  # What\n#[test]\nWhat(1)") == []


def test_no_comment_begins_with_what_who_or_nobody() -> None:
    packaging = (path for path in (ROOT / "packaging").rglob("*") if path.is_file())
    scripts = (path for path in (ROOT / ".ci").iterdir() if path.is_file())
    settings = (ROOT / name for name in ("Makefile", "Cargo.toml", "pyproject.toml"))
    files = [*sources(*SUFFIXES), *packaging, *scripts, *settings]
    assert len(files) > 1000
    found = []
    for file in files:
        if file.name == "test_docs_comments.py":
            continue
        lines = BEGINNING.findall(file.read_text(encoding="utf-8"))
        found += [f"{file.relative_to(ROOT)}: {line.strip()}" for line in lines]
    assert found == []
