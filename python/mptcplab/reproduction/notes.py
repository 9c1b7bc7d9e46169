"""The notes of an item, each once and numbered."""

from mptcplab.reproduction.beside import Figure, ItemAccount, Mark


def notes(item: ItemAccount) -> list[str]:
    """The notes of figures and statements, in the order in which they come."""
    cells = [cell.note for row in item.rows for cell in row if isinstance(cell, Figure)]
    said = [one.note for one in item.says]
    return list(dict.fromkeys(note for note in [*cells, *said] if note))


def place(note: str, known: list[str]) -> str:
    """The number of a note as it stands beside a figure; empty without one."""
    return f"[{known.index(note) + 1}]" if note else ""


def is_red(mark: Mark) -> bool:
    """Whether a mark is one that no reason excuses."""
    return mark is Mark.UNEXPLAINED
