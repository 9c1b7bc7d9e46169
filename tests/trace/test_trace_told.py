"""The words of a summary: titles that are explained, the order of events, rows of bins."""

import re
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from tests.trace.handmade import captures
from tests.trace.handmade.talks import TALKS
from tests.trace.ours import analyse

from mptcplab.trace import open_tables, view
from mptcplab.trace.event_order import ORDER, in_order
from mptcplab.trace.glossary import IN_TERMINAL, MEANINGS, explained
from mptcplab.trace.pairs.words import CHOICES, PATHS, REINJECTIONS
from mptcplab.trace.render import cells, terminal
from mptcplab.trace.render.html import to_html
from mptcplab.trace.render.terminal_statistics import statistics
from mptcplab.trace.views import View

EVENTS = Path(__file__).parents[2] / "docs/trace.md"


def _view(name: str, folder: Path, *, checksums: bool = False) -> View:
    file = captures.write(folder / f"{name}.pcapng", captures.pcapng(TALKS[name]().frames))
    analyse([file], folder / name, checksums=checksums)
    return view(open_tables(folder / name))


def _printed(chosen: View) -> str:
    console = Console(width=200, record=True, file=None)
    with console.capture() as capture:
        terminal.to_terminal(chosen, console)
    return capture.get()


def test_each_title_that_is_explained_is_shown() -> None:
    shown = {*cells.DATA_OF_MPTCP, *cells.SILENCE, *cells.CARRIED, *PATHS, *CHOICES, *REINJECTIONS}
    assert set(MEANINGS) <= shown
    assert set(IN_TERMINAL) <= set(MEANINGS)


def test_a_line_explains_each_title_that_is_shown() -> None:
    assert list(explained(["strays", "packets", "late", "strays"])) == [
        "late: new data below the highest data sequence number seen before it",
        "strays: packets that only the receiver's capture has",
    ]


def test_the_summary_and_the_page_explain_their_titles(tables: Path) -> None:
    chosen = view(open_tables(tables))
    text = _printed(chosen)
    assert text.count("late: new data below") == 1
    assert "strays:" not in text
    page = to_html(chosen)
    assert '<abbr title="new data below the highest data sequence number' in page
    assert '<abbr title="in flight, without what SACK tells' in page


def test_the_order_has_every_kind_of_the_page() -> None:
    section = EVENTS.read_text().split("\n## Events\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    assert sorted(ORDER) == sorted(kind for cell in cells for kind in re.findall("`(.*?)`", cell))


def test_of_one_packet_the_end_comes_last(tmp_path: Path) -> None:
    events = _view("unacknowledged-end", tmp_path).events
    last = events.filter(pl.col("frame") == events["frame"].max())
    assert last["kind"].to_list() == ["fin", "subflow_closed", "connection_closed"]
    assert last["text"][-1] == "the connection is closed: both ends sent FIN"
    both = events.filter(pl.col("kind").is_in(["data_fin", "fin"]), pl.col("from") == "server")
    assert both["kind"].to_list() == ["data_fin", "fin"]


def test_packets_of_one_moment_keep_their_order() -> None:
    rows = [
        (5, 0, 2, "subflow_closed"),
        (5, 0, 2, "data_fin"),
        (5, 1, 9, "reset"),
        (5, 0, 1, "connection_opened"),
        (4, 0, 7, "connection_closed"),
        (5, 0, 2, "connection_opened"),
    ]
    events = pl.DataFrame(rows, schema=["t_ns", "connection", "frame", "kind"], orient="row")
    found = in_order(events)
    assert found.columns == events.columns
    assert found.rows() == [
        (4, 0, 7, "connection_closed"),
        (5, 0, 2, "connection_opened"),
        (5, 0, 2, "data_fin"),
        (5, 0, 2, "subflow_closed"),
        (5, 1, 9, "reset"),
        (5, 0, 1, "connection_opened"),
    ]


@pytest.mark.parametrize(
    ("checksums", "words"),
    [(True, "data checksums, 4 verified, 1 wrong"), (False, "data checksums, none verified")],
)
def test_the_summary_counts_checksums(tmp_path: Path, checksums: bool, words: str) -> None:
    assert words in _printed(_view("v1-checksums", tmp_path, checksums=checksums))


def test_summary_and_event_tell_one_end(tmp_path: Path) -> None:
    chosen = _view("unacknowledged-end", tmp_path)
    text = _printed(chosen)
    assert "; end: FIN" in text
    assert re.search(r"DATA_FIN of the server at [0-9.]+ s, never acknowledged", text)


def test_an_idle_application_is_no_handover(tmp_path: Path) -> None:
    chosen = _view("pause", tmp_path)
    assert chosen.handovers.is_empty()
    (silence,) = chosen.events.filter(kind="silence")["text"]
    assert silence.startswith("no new data of the client for 14.800 s, 0.120 s of it")


def test_a_course_has_no_finer_rows_than_there_are_bins(tmp_path: Path) -> None:
    chosen = _view("v1", tmp_path)
    (course,) = (
        rows
        for title, _, rows in statistics(chosen, 0)
        if title == "cumulative data of the subflows, server → client"
    )
    origin = chosen.origin_ns
    samples = chosen.samples.filter(pl.col("from") == "server")
    starts = samples["t_ns"].sort().to_list()
    assert len(course) == (starts[-1] - starts[0]) // 100_000_000 + 1
    for until, *_ in course:
        assert (round(float(until) * 1e9) + origin) % 100_000_000 < 1_000_000
    assert course[-1][-1] == "3.61 kB"
