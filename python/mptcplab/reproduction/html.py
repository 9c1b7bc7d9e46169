"""An account as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mptcplab.page.templates import templates
from mptcplab.report.canvas import page_svg
from mptcplab.reproduction.beside import Account, Figure, ItemAccount
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.marks import RED, RULE, SIGNS, Mark
from mptcplab.reproduction.notes import notes, place, unexpected
from mptcplab.reproduction.pictures import Picture

MOST_BESIDE = 2
"""Columns of figures up to which a cell's two figures stand beside each other."""


def to_html(
    account: Account, manner: Manner, pictures: Sequence[Sequence[Picture]], command: str
) -> str:
    """The page of a document, with the pictures of each item."""
    environment = templates("mptcplab.reproduction")
    counts = account.counts()
    return environment.get_template("page.html.j2").render(
        document=account.document,
        manner=manner,
        command=command,
        rule=RULE,
        signs=SIGNS,
        red=RED,
        differs=(Mark.DIFFERS, Mark.UNCHECKED),
        counts=[(mark, counts[mark]) for mark in Mark if counts[mark]],
        sections=[_section(item, own) for item, own in zip(account.items, pictures, strict=True)],
        is_figure=lambda cell: isinstance(cell, Figure),
        place=place,
    )


def _section(account: ItemAccount, pictures: Sequence[Picture]) -> dict[str, object]:
    figures = [sum(isinstance(cell, Figure) for cell in row) for row in account.rows]
    return {
        "account": account,
        "item": account.item,
        "notes": notes(account),
        "unexpected": unexpected(account),
        "is_wide": max(figures, default=0) > MOST_BESIDE,
        "pictures": [_shown(one) for one in pictures],
    }


def _shown(one: Picture) -> dict[str, object]:
    return {
        "title": one.title,
        "svg": None if one.drawing is None else Markup(page_svg(one.drawing)),
        "lines": one.lines,
        "missing": one.missing,
    }
