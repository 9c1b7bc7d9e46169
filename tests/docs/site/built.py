"""Addresses of other hosts from which a page that was built would load something.

python -m tests.docs.site.built FOLDER        names them, and fails where there are any
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

LOADED = ("src", "srcset", "poster", "data")
LINKS = {"canonical", "alternate", "author", "license", "next", "prev"}
"""Relations of a `link` that a browser only knows; it loads what others name."""
OTHER_HOST = re.compile(r"(?:https?:)?//[^\s\"'),]+", re.IGNORECASE)
OF_STYLE = re.compile(rf"(?:url\(|@import)\s*[\"']?({OTHER_HOST.pattern})", re.IGNORECASE)


def loaded_by_page(text: str) -> list[str]:
    """The addresses that elements and styles of a page name to be loaded."""
    page = _Page()
    page.feed(text)
    page.close()
    return page.found


def loaded_by_style(text: str) -> list[str]:
    """The addresses that a style sheet names."""
    return OF_STYLE.findall(text)


def loaded(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files of a site, and what each loads from elsewhere."""
    for kind, found in (("html", loaded_by_page), ("css", loaded_by_style)):
        for file in sorted(folder.rglob(f"*.{kind}")):
            yield from ((file, address) for address in found(file.read_text(encoding="utf-8")))


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_style = tag == "style"
        given = {name: value or "" for name, value in attrs}
        named = [given[name] for name in LOADED if name in given]
        if tag == "link" and not LINKS & set(given.get("rel", "").lower().split()):
            named.append(given.get("href", ""))
        if tag in {"image", "use"}:
            named += [given.get("href", ""), given.get("xlink:href", "")]
        for value in named:
            # Pictures of different sizes are several addresses in one value.
            self.found += [part for part in re.split(r",?\s+", value) if OTHER_HOST.match(part)]
        self.found += loaded_by_style(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._is_style:
            self.found += loaded_by_style(data)

    def handle_endtag(self, tag: str) -> None:
        self._is_style = self._is_style and tag != "style"


if __name__ == "__main__":
    if places := [f"{file}: {address}" for file, address in loaded(Path(sys.argv[1]))]:
        sys.exit("\n".join(("the site would load from elsewhere:", *places)))
