"""The pages of the documentation, taken apart into what can be run and what can be followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *(ROOT / "docs").rglob("*.md"),
    ]
)

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|a)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str | None
    """Name of the file that it is the content of."""
    body: str
    line: int


@dataclass(frozen=True)
class Command:
    """A line of a shell block, and what the page says it prints."""

    text: str
    output: tuple[str, ...]


def name(page: Path) -> str:
    """A page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title = _TITLE.search(rest)
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(language, title and title[1], match["body"], line))
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a shell block.

    In `console` they follow a `$`, and what is below is their output; in `sh` every line is one.
    """
    if block.language == "sh":
        return [Command(line, ()) for line in block.body.splitlines() if line.strip()]
    found: list[Command] = []
    for line in block.body.splitlines():
        if line.startswith("$ "):
            found.append(Command(line.removeprefix("$ "), ()))
        elif line.startswith("> "):
            text = f"{found[-1].text}\n{line.removeprefix('> ')}"
            found[-1] = Command(text, ())
        elif line.strip():
            found[-1] = Command(found[-1].text, (*found[-1].output, line))
    return found


def links(page: Path) -> Iterator[str]:
    """Targets of the links and pictures of a page, without those in code."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for match in _LINK.finditer(re.sub(r"`[^`\n]*`", "", text)):
        yield match[1] or match[2]


def anchors(page: Path) -> set[str]:
    """The names by which links lead to headings of the page."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = (heading.lower().replace("`", "") for heading in _HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}
