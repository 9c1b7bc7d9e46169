"""The parts of `docs/trace.md` that are made from the schema and from the fields of filters.

python -m tests.trace.reference        writes them anew
"""

from __future__ import annotations

from pathlib import Path

from mptcplab.tables.schema import Column, Kind, Table
from mptcplab.trace.matching import FIELDS, WORDS
from mptcplab.trace.tables import TABLES

PAGE = Path(__file__).parents[2] / "docs" / "trace.md"
_TYPES = {
    Kind.INTEGER: "integer",
    Kind.WIDE: "64 bits",
    Kind.NUMBER: "number",
    Kind.TEXT: "text",
    Kind.FLAG: "boolean",
}
_VALUES = {
    "number": "whole number",
    "size": "size",
    "time": "time",
    "rate": "rate",
    "word": "word",
    "key": "64 bits",
    "address": "address or network",
}


def with_parts(page: str) -> str:
    """The page with its generated parts made anew."""
    for name, content in (("tables", tables_text()), ("fields", fields_text())):
        begin, end = f"<!-- {name}: made by `make docs` -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{content}\n{end}{after}"
    return page


def tables_text() -> str:
    """A section for each table."""
    return "\n".join(_section(table) for table in TABLES.values())


def fields_text() -> str:
    """The fields of filters, and the words."""
    rows = [
        f"| `{name}` | {_VALUES[field.kind]} | {field.meaning} |" for name, field in FIELDS.items()
    ]
    words = [f"| `{word}` |  | {meaning} |" for word, (_, meaning) in WORDS.items()]
    head = ["| field, or word | value | meaning |", "|---|---|---|"]
    return "\n".join([*head, *rows, *words, ""])


def _section(table: Table) -> str:
    asked = " Only where packets are asked for." if table.on_request else ""
    lines = [f"### `{table.name}`", "", f"One row: {table.row}.{asked}", ""]
    lines += ["| column | type | unit | meaning |", "|---|---|---|---|"]
    shown = []
    for column in table.columns:
        name = column.name
        twin = f"server_{name.removeprefix('client_')}"
        both = next((c for c in table.columns if c.name == twin), None)
        if name.startswith("server_") and f"client_{name.removeprefix('server_')}" in shown:
            continue
        shown.append(name)
        same = name.startswith("client_") and both is not None and both.meaning == column.meaning
        names = f"`{name}`, `{twin}`" if same else f"`{name}`"
        lines.append(_row(names, column))
        if name.startswith("client_") and both is not None and not same:
            lines.append(_row(f"`{twin}`", both))
    return "\n".join([*lines, ""])


def _row(names: str, column: Column) -> str:
    kind = _TYPES[column.kind] + ("?" if column.optional else "")
    return f"| {names} | {kind} | {column.unit} | {column.meaning} |"


if __name__ == "__main__":
    PAGE.write_text(with_parts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
