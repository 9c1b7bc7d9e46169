"""docs/glossary.md is in order, and the words that it replaced are gone from the code."""

import ast
import re
from collections.abc import Iterator

from tests.docs.pages import ROOT
from tests.docs.sources import sources

PAGE = ROOT / "docs/glossary.md"

REPLACED = (
    "Away",
    "Bell",
    "Charge",
    "Crew",
    "Desk",
    "Door",
    "Hand",
    "Holes",
    "Inbox",
    "Lane",
    "Letter",
    "Mailbox",
    "Means",
    "Moves",
    "Openings",
    "Orders",
    "Parcel",
    "Sends",
    "Situation",
    "Steer",
    "Switchboard",
    "Twins",
    "Wishes",
    "crew",
    "impossible",
    "lacking",
    "look_after",
    "pass_time",
    "spell_all",
    "take_touched",
    "takers",
    "tells_mapping",
    "turn_away",
    "twins",
)
"""Names that the glossary's terms replaced. One that is renamed is added here."""

PHRASES = re.compile(
    r"\bitems? of (?:the )?traffic\b|\btraffic items?\b|(?<![\"`])\bmend(?:s|ed|ing)?\b(?![\"`])",
    re.IGNORECASE,
)
"""Words of sentences that the glossary's terms replaced: flow, hint. Keys of public formats, which
stand in quotes, go on."""


def _rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_each_term_has_a_meaning_and_a_source() -> None:
    head, rule, *rows = _rows()
    assert head == ["term", "meaning", "source"]
    assert rule == ["---"] * 3
    assert len(rows) >= 40
    assert [row for row in rows if len(row) != 3 or not all(row)] == []


def test_terms_are_sorted_and_stand_once() -> None:
    terms = [row[0].lower() for row in _rows()[2:]]
    assert terms == sorted(set(terms))


def _names_of_python(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        for field in ("id", "attr", "name", "arg", "asname"):
            if isinstance(name := getattr(node, field, None), str):
                yield from name.split(".")


NO_NAMES = re.compile(
    r"""//[^\n]*|\br(\#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""", re.DOTALL
)
"""Comments, strings and characters of Rust."""


def _names_of_rust(text: str) -> Iterator[str]:
    yield from re.findall(r"\b[A-Za-z_]\w*", NO_NAMES.sub("", text))


LINE_START = re.compile(r"^\s*(?://[/!]?|\#)", re.MULTILINE)
"""The signs that begin a line of a comment."""


def test_replaced_phrases_are_in_no_sentence() -> None:
    found = []
    for file in [*sources(".py", ".rs"), *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        if file.name in ("test_docs_glossary.py", "CHANGELOG.md"):
            continue
        text = " ".join(LINE_START.sub("", file.read_text(encoding="utf-8")).split())
        found += [f"{file.relative_to(ROOT)}: {words}" for words in PHRASES.findall(text)]
    assert found == []


def test_replaced_words_are_no_identifiers() -> None:
    replaced = set(REPLACED)
    assert sorted(replaced) == list(REPLACED)
    found = []
    for suffix, names in ((".py", _names_of_python), (".rs", _names_of_rust)):
        files = sources(suffix)
        assert files
        for file in files:
            left = replaced.intersection(names(file.read_text(encoding="utf-8")))
            found += [f"{file.relative_to(ROOT)}: {name}" for name in sorted(left)]
    assert found == []
