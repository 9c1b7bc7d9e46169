"""The rows that Rust writes have the columns that Python reads."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mptcplab.recording.tables import TABLES
from mptcplab.tables.schema import Kind

CRATES = Path(__file__).parents[2] / "crates"
SHARED = [
    file for folder in ("lab/link", "host/linux") for file in (CRATES / folder).glob("src/**/*.rs")
]
"""Sources of what rows of other crates are made of."""

_STRUCT = re.compile(
    r"^pub(?:\(\w+\))? struct (?P<name>\w+)(?:<[^>]*>)? \{\n(?P<body>.*?)^\}",
    re.DOTALL | re.MULTILINE,
)
_FIELD = re.compile(
    r"(?P<attributes>(?:^    #\[[^\n]*\n)*)^    (?:pub(?:\(\w+\))? )?(?P<name>\w+): (?P<type>.+),$",
    re.MULTILINE,
)
_NAMED = re.compile(r'^    (\w+): "(\w+)",$', re.MULTILINE)
_IMPLEMENTED = re.compile(
    r"^impl Row for (\w+).* \{\n    const TABLE: .* = \"(\w+)\";", re.MULTILINE
)
_WHOLE_NUMBER = re.compile(r"[iu](8|16|32|64|size)|Nanos")

Row = dict[str, str]
"""Types in Rust, by column."""


def columns(body: str, near: list[Path]) -> Iterator[tuple[str, str]]:
    for field in _FIELD.finditer(body):
        if "serde(skip" in field["attributes"]:
            continue
        renamed = re.search(r'rename = "(\w+)"', field["attributes"])
        if "flatten" in field["attributes"]:
            kind = re.sub(r"&('\w+ )?|Option<|[<>]", "", field["type"])
            yield from columns(flattened(kind, near), near)
        else:
            yield renamed[1] if renamed else field["name"], field["type"]


def flattened(name: str, near: list[Path]) -> str:
    """The body of a struct, of the crate itself or else of those that it builds on."""
    for file in [*near, *SHARED]:
        for struct in _STRUCT.finditer(file.read_text()):
            if struct["name"] == name:
                return struct["body"]
    raise AssertionError(f"no struct {name}")


def tables(sources: list[Path]) -> dict[str, str]:
    """Tables by the names of their rows."""
    texts = [file.read_text() for file in sources]
    found = [pair for text in texts for how in (_NAMED, _IMPLEMENTED) for pair in how.findall(text)]
    return {name: table for name, table in found if table in TABLES}


def rows() -> Iterator[tuple[str, str, Row]]:
    """Crate and name, table, and columns of every struct that is a row."""
    for crate in sorted((CRATES / "lab").iterdir()):
        sources = sorted(crate.glob("src/**/*.rs"))
        named = tables(sources)
        for struct in (one for file in sources for one in _STRUCT.finditer(file.read_text())):
            if (table := named.get(struct["name"])) is not None:
                place = f"{crate.name}: {struct['name']}"
                yield place, table, dict(columns(struct["body"], sources))


ROWS = list(rows())


def holds(kind: Kind, rust: str) -> bool:
    bare = re.sub(r"^Option<(.*)>$", r"\1", rust)
    if _WHOLE_NUMBER.fullmatch(bare):
        return kind in (Kind.INTEGER, Kind.WIDE)
    return kind is (Kind.FLAG if bare == "bool" else Kind.TEXT)


@pytest.mark.parametrize(("place", "table", "row"), ROWS, ids=[place for place, _, _ in ROWS])
def test_a_row_has_the_columns_of_its_table(place: str, table: str, row: Row) -> None:
    kinds = {column.name: column.kind for column in TABLES[table].columns}
    assert set(row) == set(kinds), f"{place} and {table} differ"
    wrong = {name: rust for name, rust in row.items() if not holds(kinds[name], rust)}
    assert not wrong, f"{place}: these are of another kind in {table}"


def test_each_table_has_one_kind_of_row() -> None:
    assert sorted(table for _, table, _ in ROWS) == sorted(TABLES)
