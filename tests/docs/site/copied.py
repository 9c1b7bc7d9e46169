"""The repository's pages as pages of the site: the same files in the same places, with pictures."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.docs.pages import PAGES, ROOT, links


def copy_pages(folder: Path) -> None:
    """Copies every page, and every file that one leads to, so that links stay what they are."""
    for page in PAGES:
        _copy(page, folder)
        for link in links(page):
            path = link.partition("#")[0]
            if path and "://" not in path:
                _copy((page.parent / path).resolve(), folder)


def _copy(file: Path, folder: Path) -> None:
    target = folder / file.relative_to(ROOT)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
