"""An account as one page that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from mptcplab.page.charts import Chart
from mptcplab.page.templates import templates
from mptcplab.report.charts import chart_of, rows_of
from mptcplab.reproduction.bars import Bars
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
    charts: dict[str, Chart] = {}
    told = zip(account.items, pictures, strict=True)
    sections = [_section(item, own, charts) for item, own in told]
    return environment.get_template("page.html.j2").render(
        document=account.document,
        manner=manner,
        command=command,
        rule=RULE,
        signs=SIGNS,
        red=RED,
        differs=(Mark.DIFFERS, Mark.UNCHECKED),
        counts=[(mark, counts[mark]) for mark in Mark if counts[mark]],
        sections=sections,
        charts=charts,
        is_figure=lambda cell: isinstance(cell, Figure),
        place=place,
    )


def _section(
    account: ItemAccount, pictures: Sequence[Picture], charts: dict[str, Chart]
) -> dict[str, object]:
    identifier = f"{account.item.kind}-{account.item.number}"
    figures = [sum(isinstance(cell, Figure) for cell in row) for row in account.rows]
    return {
        "account": account,
        "item": account.item,
        "notes": notes(account),
        "unexpected": unexpected(account),
        "is_wide": max(figures, default=0) > MOST_BESIDE,
        "id": identifier,
        "pictures": [
            _shown(one, f"{identifier}-picture-{number}", charts)
            for number, one in enumerate(pictures, start=1)
        ],
    }


def _shown(one: Picture, identifier: str, charts: dict[str, Chart]) -> dict[str, object]:
    """A picture as the template takes it; its chart is added to those of the page."""
    chart, rows = None, None
    if isinstance(one.content, Bars):
        rows = one.content.rows()
    elif one.content is not None:
        chart, rows = chart_of(one.content, {}), rows_of(one.content)
    if chart is not None:
        # Items are about different runs: their times have nothing in common.
        charts[identifier] = chart = replace(chart, group=f"time-{identifier}")
    return {
        "id": identifier,
        "title": one.title,
        "chart": chart,
        "rows": None if rows is None else Markup(rows),
        "lines": one.lines,
        "missing": one.missing,
    }
