"""docs/recording.md and the schemas say the same."""

import re
from pathlib import Path

from mptcplab.recording.tables import TABLES

DOCUMENT = Path(__file__).parents[2] / "docs" / "recording.md"


def documented_tables() -> dict[str, list[str]]:
    tables = {}
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            bare = re.sub(r"\([^()]*\)", "", cells[2])
            tables[cells[0].strip("`")] = re.findall(r"`(\w+)`", bare)
    return tables


def test_the_document_lists_every_table_and_column_in_order() -> None:
    schemas = {name: table.schema.names() for name, table in TABLES.items()}
    assert documented_tables() == schemas
    assert list(documented_tables()) == list(schemas)


def test_every_table_and_column_has_a_meaning_and_times_have_units() -> None:
    for table in TABLES.values():
        assert table.row
        for column in table.columns:
            assert column.meaning
            if column.name.endswith("_ns"):
                assert column.unit == "ns"
            if column.name.endswith("_bytes") or column.name == "bytes":
                assert column.unit == "B"
