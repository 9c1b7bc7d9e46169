"""The project's own files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import ROOT

_SOURCES = ("benches", "crates", "python", "tests")
_FOLDERS = (*_SOURCES, "docs", "notebooks", "packaging")
_MADE = {"target", "venv", "__pycache__"}
"""Folders of what is built, which the version control ignores."""


def sources(*suffixes: str) -> list[Path]:
    """The source files with one of these suffixes, `.py`, say; links are not followed."""
    return sorted(path for path in _paths(_SOURCES) if path.name.endswith(suffixes))


def links() -> list[Path]:
    """Symbolic links among the project's files and folders."""
    return sorted(path for path in _paths(_FOLDERS) if path.is_symlink())


def _paths(tops: tuple[str, ...]) -> Iterator[Path]:
    for top in tops:
        for folder, folders, files in os.walk(ROOT / top):
            folders[:] = [name for name in folders if name not in _MADE]
            yield from (Path(folder, name) for name in (*folders, *files))
