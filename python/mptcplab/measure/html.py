"""A probe's figures as one page that needs nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from mptcplab.measure.charts import charts, goodput_bars
from mptcplab.measure.figures import Figures
from mptcplab.measure.render import Why, tables
from mptcplab.measure.verdict import verdict
from mptcplab.measure.words import size_words
from mptcplab.page.templates import templates


def to_html(figures: Figures, target: str, created: str, why: Why | None = None) -> str:
    """The page: verdict, why, tables, how it was made."""
    template = templates("mptcplab.measure").get_template("probe.html.j2")
    return template.render(shown(figures, target, created, why))


def shown(figures: Figures, target: str, created: str, why: Why | None = None) -> dict[str, Any]:
    """The values of the template `probe.html.j2`."""
    bars, drawn = goodput_bars(figures), charts(figures)
    return {
        "bars": bars and {"title": bars.title, "note": bars.note, "drawn": Markup(bars.drawn)},
        "drawn": drawn,
        "charts": {one.id: one.chart for one in drawn},
        "used": size_words(figures.used_bytes),
        "target": target,
        "created": created,
        "verdict": verdict(figures),
        "why": why,
        "tables": tables(figures),
    }
