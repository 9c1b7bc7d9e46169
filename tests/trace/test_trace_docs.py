"""docs/trace.md is that of the tables, filters and events as they are."""

from tests.trace.reference import PAGE, with_parts

from mptcplab.trace.tables import TABLES


def test_tables_and_fields_are_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_parts(page), "run: make docs"


def test_every_column_is_told() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for table in TABLES.values():
        section = page.partition(f"### `{table.name}`\n")[2].partition("\n### ")[0]
        for column in table.columns:
            assert f"`{column.name}`" in section, (table.name, column.name)
