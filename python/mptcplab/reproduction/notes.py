"""The notes of an item, each once and numbered, and the figures that they do not explain."""

from mptcplab.report.numbers import number
from mptcplab.reproduction.beside import Figure, ItemAccount
from mptcplab.reproduction.marks import Mark


def notes(item: ItemAccount) -> list[str]:
    """The notes of figures and statements, in the order in which they come."""
    cells = [cell.note for row in item.rows for cell in row if isinstance(cell, Figure)]
    said = [one.note for one in item.says]
    return list(dict.fromkeys(note for note in [*cells, *said] if note))


def place(note: str, known: list[str]) -> str:
    """The number of a note as it stands beside a figure; empty without one."""
    return f"[{known.index(note) + 1}]" if note else ""


def unexpected(item: ItemAccount) -> list[str]:
    """The figures of an item that are not those which the notes explain, a line each."""
    cells = [cell for row in item.rows for cell in row if isinstance(cell, Figure)]
    found = [(cell.cell.scenario, cell.checked) for cell in cells if cell.mark is Mark.UNEXPECTED]
    found += [
        (said.statement.scenario, one)
        for said in item.says
        if said.mark is Mark.UNEXPECTED
        for one in said.checked
    ]
    lines = [
        f"{scenario} {one.name}: {number(one.ours.mean)}, where {one.told}"
        for scenario, one in found
        if one is not None and not one.is_as_expected
    ]
    return list(dict.fromkeys(lines))
