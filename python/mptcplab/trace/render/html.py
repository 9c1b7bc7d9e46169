"""The analysis as one page that needs nothing from elsewhere: neither font nor picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from mptcplab.page.charts import Chart
from mptcplab.page.templates import templates
from mptcplab.trace import many_subflows, words
from mptcplab.trace.figures import ENDS
from mptcplab.trace.glossary import MEANINGS
from mptcplab.trace.packet_sample import command, packet_sample
from mptcplab.trace.pairs.pair import Pair
from mptcplab.trace.pairs.words import clock_lines, pair_tables
from mptcplab.trace.render import cells
from mptcplab.trace.render.charts import MARKED, Plot, charts, delays, event_row, group_of
from mptcplab.trace.render.ladder import ladder
from mptcplab.trace.render.ladder_svg import ladder_svg
from mptcplab.trace.render.looks import looks
from mptcplab.trace.render.terminal_statistics import statistics
from mptcplab.trace.views import View

AT_LENGTH = 6
"""Connections that are shown with plots, the largest; a page has to stay readable."""
LISTED = 100
"""Connections of the table."""
MOST_EVENTS = 300
"""Events of a connection."""
MOST_PACKETS = 4000
"""Packets of the page that are decoded."""


def to_html(view: View, pair: Pair | None = None) -> str:
    """Returns one self-contained page with a section for each connection, the largest first.

    `pair` is what the captures of both ends tell together.

    Raises:
        TraceError: the trace has no table of packets.

    """
    environment = templates("mptcplab.trace.render")
    environment.globals["meanings"] = MEANINGS
    ordered = cells.largest_first(view.connections)
    shown = ordered.head(AT_LENGTH)
    capture = view.trace.capture
    drawn: dict[str, Chart] = {}
    sections = [_section(view, row, pair, drawn) for row in shown.iter_rows(named=True)]
    return environment.get_template("trace.html.j2").render(
        title=", ".join(Path(file.path).name for file in capture.files),
        read=[line for line, warns in cells.read_lines(capture) if not warns],
        warnings=[line for line, warns in cells.read_lines(capture) if warns],
        pair=[] if pair is None else list(clock_lines(pair)),
        range=cells.range_words(view) if view.span else "",
        listed={
            "head": ("", *cells.LIST),
            "rows": [
                cells.in_list(view, row) for row in ordered.head(LISTED).iter_rows(named=True)
            ],
            "words": ("", *cells.WORDS),
            "note": _listed_note(ordered.height),
        },
        shown={str(section["number"]) for section in sections},
        connections=sections,
        charts=drawn,
        data={"packets": _packets(view, shown.select("connection", "packets"))},
    )


def _packets(view: View, connections: pl.DataFrame) -> dict[str, Any]:
    """Decoded packets of each connection and the command for others, by the page's sections."""
    left = MOST_PACKETS
    rooms = {}
    # The smallest first: what they do not need is room of the larger ones.
    for place, (number, packets) in enumerate(connections.sort("packets").iter_rows()):
        rooms[number] = left // (connections.height - place)
        left -= min(packets, rooms[number])
    return {
        f"connection-{number}": {
            "command": command(view, number),
            "packets": packets,
            "pieces": packet_sample(view, number, _told_first(view, number), rooms[number]),
        }
        for number, packets in connections.iter_rows()
    }


def _told_first(view: View, connection: int) -> list[int]:
    """Times of the events of the page, those that its charts mark first."""
    events = view.events.filter(connection=connection).head(MOST_EVENTS)
    is_marked = pl.col("kind").is_in(list(MARKED))
    return pl.concat([events.filter(is_marked), events.filter(~is_marked)])["t_ns"].to_list()


def _listed_note(held: int) -> str:
    notes = []
    if held > LISTED:
        notes.append(f"The {LISTED} largest of {held}.")
    if held > AT_LENGTH:
        notes.append(f"The {AT_LENGTH} largest are shown at length below.")
    return " ".join(notes)


def _section(
    view: View, row: Mapping[str, Any], pair: Pair | None, drawn: dict[str, Chart]
) -> dict[str, Any]:
    """A connection as the template takes it; its charts are added to those of the page."""
    number = row["connection"]
    subflows = view.subflows.filter(connection=number)
    events = view.events.filter(connection=number)
    steps = ladder(view, number)
    picture = ladder_svg(steps, looks(subflows["subflow"].to_list()), view.origin_ns)
    return {
        "number": number,
        "protocol": words.protocol(row),
        "ends": words.ends(row),
        "facts": [*cells.facts(view, row), *many_subflows.notes(subflows)],
        "handovers": list(cells.handover_lines(view, number)),
        "tables": list(_tables(view, row)),
        "statistics": [_table(*one) for one in statistics(view, number)],
        "ladder": Markup(picture) if steps.steps else None,
        "plots": _named(charts(view, number), f"connection-{number}-chart", drawn),
        "group": group_of(number),
        "pair": [] if pair is None else [_table(*one) for one in pair_tables(pair, number)],
        "pair_plots": []
        if pair is None
        else _named(delays(view, number, pair.packets), f"connection-{number}-delay", drawn),
        "events": [
            (
                words.moment(event["t_ns"], view.origin_ns),
                "" if event["subflow"] is None else event["subflow"],
                event["from"] or "",
                event["kind"].replace("_", " "),
                event["text"],
                event["frame"],
                event_row(number, place),
                (event["t_ns"] - view.origin_ns) / 1e9,
            )
            for place, event in enumerate(events.head(MOST_EVENTS).iter_rows(named=True))
        ],
        "events_left_out": max(0, events.height - MOST_EVENTS),
    }


def _named(plots: Sequence[Plot], prefix: str, drawn: dict[str, Chart]) -> list[tuple[str, Plot]]:
    """The plots with their identifiers in the page."""
    told = [(f"{prefix}-{number}", plot) for number, plot in enumerate(plots, start=1)]
    drawn |= {identifier: plot.chart for identifier, plot in told}
    return told


def _tables(view: View, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    number = row["connection"]
    head, rows = cells.directions(view, row)
    if rows:
        yield _table("Data", ("from", *head), rows)
    subflows = many_subflows.shown(view.subflows.filter(connection=number))
    opened = [
        (str(one["subflow"]), *cells.opened(view, one)) for one in subflows.iter_rows(named=True)
    ]
    yield _table("Subflows", ("subflow", *cells.OPENED), opened)
    carried = [
        (str(one["subflow"]), end, *cells.carried(one, end))
        for one in subflows.iter_rows(named=True)
        for end in ENDS
        if one[f"{end}_packets"]
    ]
    yield _table("What they carried", ("subflow", "from", *cells.CARRIED), carried)


def _table(title: str, head: Any, rows: Any) -> dict[str, Any]:
    left = (*cells.WORDS, "address", "of the", "subflows", "direction")
    return {"title": title[0].upper() + title[1:], "head": head, "rows": rows, "words": left}
