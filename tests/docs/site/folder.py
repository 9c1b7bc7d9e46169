"""The folder from which Zensical makes the documentation site."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.docs.pages import PAGES, ROOT, links, name
from tests.docs.site.copied import copy_pages
from tests.docs.site.gallery import GALLERY, write_gallery

SETTINGS = ROOT / "packaging/site"
HOWTO = ROOT / "docs/howto/README.md"
REFERENCE = (
    "scenario",
    "metrics",
    "reference",
    "json",
    "recording",
    "trace",
    "trace-and-tshark",
    "controller",
    "broker",
    "connected-car",
    "selector",
    "glossary",
)
MEASURED = ("reproduction/README", "cross-check", "benefits", "benchmarks")


def make_folder(folder: Path, pattern: str = "*") -> None:
    """Writes the settings and all pages; of scenarios those that match.

    Raises:
        ValueError: a page of the documentation has no place in the site.

    """
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    pages.mkdir(parents=True)
    copy_pages(pages)
    families = write_gallery(pages, pattern)
    for file in ("style.css", "iframe-worker.js"):
        shutil.copyfile(SETTINGS / file, pages / file)
    settings = (SETTINGS / "mkdocs.yml").read_text(encoding="utf-8")
    # JSON is YAML.
    places = json.dumps(_places(families), indent=1)
    lost = [name(page) for page in PAGES if f'"{name(page)}"' not in places]
    if lost:
        raise ValueError(f"{', '.join(lost)}: no place in the site: give it one in {__file__}")
    (folder / "mkdocs.yml").write_text(f"{settings}\nnav: {places}\n", encoding="utf-8")


def _places(families: dict[str, list[str]]) -> list[Any]:
    """The order of all pages; each is named by its first heading unless a name is given."""
    tasks = [name((HOWTO.parent / link).resolve()) for link in links(HOWTO)]
    return [
        {"Start": ["README.md", {"Tutorial": "docs/tutorial.md"}]},
        {"How to": [name(HOWTO), *dict.fromkeys(tasks)]},
        {
            "Gallery": [
                f"{GALLERY}/README.md",
                *({family: pages} for family, pages in families.items()),
            ]
        },
        {"Reference": [f"docs/{one}.md" for one in REFERENCE]},
        {"Measured": [f"docs/{one}.md" for one in MEASURED]},
        {"Inside": ["docs/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md"]},
    ]
