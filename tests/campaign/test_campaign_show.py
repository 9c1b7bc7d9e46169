"""The tables of a sweep on a terminal."""

import re
from collections.abc import Sequence
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from mptcplab.campaign.report import Table
from mptcplab.campaign.show import drawn

FIGURES = ("43.03 ± 0.12", "0.000932 ± 0.000000", "recovered in 12 of 13", "1234567", "−0.0402")
HEADS = (
    "links.common.rate",
    "hosts.client.mptcp.path_manager",
    "traffic.0.http.size",
    "links.wifi.delay",
    "hosts.server.interfaces.wifi.mtu",
)
VALUES = ("5ms", "1kbit/s", "{'ndiffports': 3}", "12.5 Mbit/s", "application")
VARIANTS = ("mptcp", "tcp-eth", "mptcp-with-a-long-name", "mptcpwithoutanyhyphen", "tcp both")


def lines_of(table: Table, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width, color_system=None)
    console.print(*drawn(table, console), sep="")
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def of(axes: Sequence[str], figures: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    own = tuple((*row[: len(axes)], *row[len(axes) :]) for row in rows)
    return Table("goodput", "goodput", (*axes, *figures), own, len(axes))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    axes = [f"{draw(st.sampled_from(HEADS))}{place}" for place in range(draw(st.integers(1, 6)))]
    names = [
        f"{draw(st.sampled_from(VARIANTS))}{place}" for place in range(draw(st.integers(1, 6)))
    ]
    row = st.tuples(
        *(st.sampled_from(VALUES) for _ in axes), *(st.sampled_from(FIGURES) for _ in names)
    )
    return of(axes, names, draw(st.lists(row, min_size=1, max_size=5)))


@given(tables(), st.integers(60, 200))
def test_a_figure_is_never_cut_off(table: Table, width: int) -> None:
    lines = lines_of(table, width)
    text = "\n".join(lines)
    assert "…" not in text
    assert max(map(len, lines)) <= width
    told = re.findall("|".join(map(re.escape, FIGURES)), text)
    assert sorted(told) == sorted(cell for row in table.rows for cell in row[table.keys :])


def test_heads_are_wrapped_at_their_dots_before_figures_go_below() -> None:
    percentiles = [f"{percent} %" for percent in (5, 25, 50, 75, 95)]
    axes = ("links.common.rate", "variant")
    row = ("20 Mbit/s", "mptcp-buffer", "1500", "−0.0318", "1.23456", "0.0144", "0.106", "1234567")
    lines = [line.split() for line in lines_of(of(axes, ["points", *percentiles], [row]), 84)]
    told = [line for line in lines if line and not line[0].startswith("─")]
    assert told[0] == ["links."]
    assert told[1] == ["common."]
    assert told[2][:3] == ["rate", "variant", "points"]
    assert told[3] == " ".join(row).split()
    assert len(told) == 4


def test_columns_that_have_no_room_stand_below_with_their_values() -> None:
    variants = [f"variant-{number}" for number in range(5)]
    rows = [(delay, *(FIGURES[1] for _ in variants)) for delay in ("5ms", "20ms")]
    lines = lines_of(of(["links.wifi.delay"], variants, rows), 80)
    heads = [line.split() for line in lines if "variant-" in line]
    assert heads == [["delay", *variants[:3]], ["delay", *variants[3:]]]
    assert [line.split()[0] for line in lines if FIGURES[1] in line] == ["5ms", "20ms"] * 2


def test_values_that_leave_no_room_are_one_column() -> None:
    row = ("5ms", "{'ndiffports': 3}", "50 kB", "20ms", "1400", FIGURES[0])
    text = " ".join(" ".join(lines_of(of(HEADS, ["mptcp"], [row]), 60)).split())
    assert FIGURES[0] in text
    assert "links.common.rate 5ms," in text


def test_a_wide_terminal_has_one_table_with_whole_heads() -> None:
    rows = [("5ms", "fullmesh", "43.0", "44.0")]
    lines = [line for line in lines_of(of(HEADS[:2], ["a", "b"], rows), 120) if line.strip()]
    assert lines[0].split() == [*HEADS[:2], "a", "b"]
    assert len(lines) == 3
