"""An account as one page that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from mptcplab.report.pages import templates
from mptcplab.reproduction.bars import bars
from mptcplab.reproduction.beside import Account, Figure, ItemAccount
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.marks import RED, RULE, SIGNS, Mark
from mptcplab.reproduction.model import PlotKind
from mptcplab.reproduction.notes import notes, place, unexpected
from mptcplab.reproduction.pictures import Picture, picture

MOST_BESIDE = 2
"""Columns of figures up to which a cell's two figures stand beside each other."""


def to_html(account: Account, manner: Manner, out: Path, command: str) -> str:
    """The page of a document; pictures are drawn from the recordings below `out`.

    Raises:
        RecordingError: a recording that a picture needs is damaged.

    """
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
        sections=[_section(item, out) for item in account.items],
        is_figure=lambda cell: isinstance(cell, Figure),
        place=place,
    )


def _section(account: ItemAccount, out: Path) -> dict[str, object]:
    figures = [sum(isinstance(cell, Figure) for cell in row) for row in account.rows]
    return {
        "account": account,
        "item": account.item,
        "notes": notes(account),
        "unexpected": unexpected(account),
        "is_wide": max(figures, default=0) > MOST_BESIDE,
        "pictures": [_shown(one) for one in _pictures(account, out) if one is not None],
    }


def _pictures(account: ItemAccount, out: Path) -> list[Picture | None]:
    return [
        _bars(account) if plot.kind is PlotKind.BARS else picture(plot, out)
        for plot in account.item.plots
    ]


def _bars(account: ItemAccount) -> Picture | None:
    svg = bars(account)
    return None if svg is None else Picture("The figures of the table", svg)


def _shown(one: Picture) -> dict[str, object]:
    return {
        "title": one.title,
        "svg": None if one.svg is None else Markup(one.svg),
        "lines": one.lines,
    }
