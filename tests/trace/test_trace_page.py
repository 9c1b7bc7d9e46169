"""The page stands alone, and its pictures show what the tables hold."""

import re
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.trace.stories import REINJECTED
from tests.trace.tabulate import write
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.trace import TraceError, open_tables, series, view
from mptcplab.trace.render import html
from mptcplab.trace.render.charts import charts
from mptcplab.trace.render.html import to_html
from mptcplab.trace.render.ladder import FIRST, LAST, Ladder, Step, ladder
from mptcplab.trace.render.ladder_svg import ladder_svg
from mptcplab.trace.render.looks import looks

TITLES = (
    "Data sequence numbers over time, server → client",
    "Throughput, server → client",
    "Round-trip time against time, server → client",
    "Round-trip time against sequence number, server → client",
    "Cumulative data, server → client",
    "Bytes in flight and window, server → client",
)


@pytest.fixture(scope="module")
def page(tables: Path) -> str:
    return to_html(view(open_tables(tables)))


def test_the_page_needs_nothing_else(page: str) -> None:
    assert not re.findall(
        r'(?:src|href)="(?!#|data:)[^"]*"', re.sub(r'xmlns[^"]*"[^"]*"', "", page)
    )
    assert len(re.findall("<script", page)) == 3
    assert "url(http" not in page
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(svg)


def test_the_page_has_every_connection_with_its_plots(page: str) -> None:
    for number in range(3):
        assert f'id="connection-{number}"' in page
    for title in TITLES:
        assert page.count(f">{title}</h3>") == 3 - title.startswith("Data")
    assert "ADD_ADDR id=2 address=10.0.8.2 port=5001" in page
    assert "after 396.1 ms without new data" in page


def test_the_command_writes_the_page(tables: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    found = CliRunner().invoke(app, ["trace", str(tables), "--html", str(file)])
    assert found.exit_code == 0, found.output
    assert file.read_text().startswith("<!DOCTYPE html>")


def test_a_page_with_room_for_every_packet_has_each(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = view(open_tables(tables))
    counts = chosen.connections.select("connection", "packets")
    monkeypatch.setattr(html, "MOST_PACKETS", int(counts["packets"].sum()))
    for number, packets in counts.iter_rows():
        held = html._packets(chosen, counts)[f"connection-{number}"]
        assert sum(map(len, held["pieces"])) == packets


def test_a_page_needs_the_packets(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="was not asked for"):
        to_html(view(open_tables(write(tmp_path / "few", packets=False))))


def test_points_that_fall_on_one_place_are_drawn_once_where_there_are_many(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "MOST_POINTS", 100)
    monkeypatch.setattr(series, "CELLS", (320, 160))
    chosen = view(open_tables(tables))
    packets = chosen.packets.filter(pl.col("connection") == 0)
    points = series.data_sequence(packets, "server", chosen.origin_ns)
    with_data = packets.filter(pl.col("from") == "server", pl.col("payload_bytes") > 0).collect()
    assert points["all"].found == with_data.height
    assert points["reinjected"].found == REINJECTED
    assert 0 < points["all"].frame.height < points["all"].found
    assert f"of {with_data.height} points are drawn" in points["all"].note
    assert set(points["all"].frame["subflow"]) == {0, 1, 2}
    few = series.trips_over_time(packets.head(40), "server", chosen.origin_ns)
    assert few.note == ""


def test_throughput_adds_up_to_what_was_carried(tables: Path) -> None:
    chosen = view(open_tables(tables))
    samples = chosen.samples.filter(connection=0)
    connection = chosen.connections.row(0, named=True)
    lifetime = (connection["start_ns"], connection["end_ns"])
    lines = series.throughput(samples, "server", chosen.origin_ns, lifetime)
    assert [line.subflow for line in lines] == [0, 1, 2, None]
    ends_s = [*lines[-1].times_s[1:], (lifetime[1] - chosen.origin_ns) / 1e9]
    carried = float((lines[-1].values * (ends_s - lines[-1].times_s) * 1e6 / 8).sum())
    assert carried == pytest.approx(connection["server_payload_bytes"])


def bins(*payload_bytes: int) -> pl.DataFrame:
    """Samples of one subflow from 1 s on, a bin of 100 ms each."""
    times = [1_000_000_000 + place * series.BIN_NS for place in range(len(payload_bytes))]
    return pl.DataFrame(
        {"from": "server", "subflow": 0, "t_ns": times, "payload_bytes": payload_bytes}
    )


def test_the_last_bin_of_a_connection_lasts_to_its_end() -> None:
    # 10 Mbit/s, to 80 ms into the third bin.
    [line] = series.throughput(
        bins(125_000, 125_000, 100_000), "server", 0, (1_000_000_000, 1_280_000_000)
    )
    assert line.times_s.tolist() == [1.0, 1.1, 1.2]
    assert line.values.tolist() == pytest.approx([10, 10, 10])


def test_a_short_rest_belongs_to_the_last_bin() -> None:
    # 1.5 ms into the third bin.
    [line] = series.throughput(
        bins(125_000, 125_000, 3_000), "server", 0, (1_000_000_000, 1_201_500_000)
    )
    assert line.times_s.tolist() == [1.0, 1.1]
    assert line.values.tolist() == pytest.approx([10, 128_000 * 8 / 1e6 / 0.1015])


def test_the_first_bin_of_a_connection_begins_with_it() -> None:
    # 10 Mbit/s, from 20 ms into the first bin on.
    lifetime = (1_020_000_000, 1_300_000_000)
    [line] = series.throughput(bins(100_000, 125_000, 125_000), "server", 0, lifetime)
    assert line.times_s.tolist() == [1.02, 1.1, 1.2]
    assert line.values.tolist() == pytest.approx([10, 10, 10])


def test_a_short_beginning_belongs_to_the_second_bin() -> None:
    # From 99 ms into the first bin on: ten segments in 1 ms are no rate.
    lifetime = (1_099_000_000, 1_300_000_000)
    [line] = series.throughput(bins(14_480, 125_000, 125_000), "server", 0, lifetime)
    assert line.times_s.tolist() == [1.099, 1.2]
    assert line.values.tolist() == pytest.approx([139_480 * 8 / 1e6 / 0.101, 10])


def test_a_single_bin_is_whole() -> None:
    [line] = series.throughput(bins(3_000), "server", 0, (1_000_000_000, 1_001_500_000))
    assert line.values.tolist() == pytest.approx([0.24])


def test_a_connection_that_goes_on_after_its_data_has_whole_bins() -> None:
    [line] = series.throughput(bins(125_000, 12_500), "server", 0, (1_000_000_000, 9_000_000_000))
    assert line.values.tolist() == pytest.approx([10, 1])


def test_the_ladder_shows_the_signals_and_counts_what_is_between(tables: Path) -> None:
    chosen = view(open_tables(tables))
    found = ladder(chosen, 0)
    assert found.clients == ("10.0.1.2", "10.0.2.2")
    assert found.servers == ("10.0.9.2", "10.0.8.2")
    heads = [(step.head, step.subflow) for step in found.steps]
    assert heads[:4] == [("SYN", 0), ("SYN ACK", 0), ("ACK", 0), ("ACK", 0)]
    assert found.steps[3].options[0].startswith("ADD_ADDR id=2")
    last = found.steps[-1].frame
    whole = chosen.packets.filter(pl.col("connection") == 0, pl.col("frame") <= last)
    shown = len(found.steps) + sum(step.skipped for step in found.steps)
    assert shown == whole.collect().height


def test_the_ladder_of_plain_tcp_has_its_handshake(tables: Path) -> None:
    steps = ladder(view(open_tables(tables)), 2).steps
    assert [step.head for step in steps] == ["SYN", "SYN ACK", "ACK", "FIN ACK", "FIN ACK"]


def test_a_long_ladder_leaves_out_its_middle() -> None:
    step = Step(0, 1, 0, "client", "10.0.0.1", "10.0.0.2", "SYN", ("MP_CAPABLE <v1>",), 1)
    drawn = ladder_svg(Ladder(("10.0.0.1",), ("10.0.0.2",), (step,) * 80, 7), looks([0]), 0)
    assert "7 steps are left out here" in drawn
    assert drawn.count('class="arrow"') == FIRST + LAST
    assert "MP_CAPABLE &lt;v1&gt;" in drawn
    ElementTree.fromstring(drawn)


def test_long_options_are_broken_into_lines() -> None:
    option = "ADD_ADDR id=2 address=2001:db8:1234:5678:9abc:def0:1234:5678 port=5001 hmac=0x" + (
        "0123456789abcdef"
    )
    step = Step(0, 1, 0, "server", "a", "b", "ACK", (option,), 0)
    drawn = ladder_svg(Ladder(("b",), ("a",), (step,), 0), looks([0]), 0)
    assert drawn.count('class="option"') == 2


def test_a_direction_with_hardly_any_data_has_no_plots(tables: Path) -> None:
    titles = [plot.title for plot in charts(view(open_tables(tables)), 0)]
    assert titles == list(TITLES)


def test_of_many_resets_the_ladder_shows_the_first(tmp_path: Path) -> None:
    folder = write(tmp_path / "resets")
    path = folder / "packets.parquet"
    packets = pl.read_parquet(path)
    last = packets.filter(pl.col("connection") == 2).tail(1).drop("t_ns")
    resets = pl.concat([last] * 5).with_columns(
        pl.lit("R").alias("flags"), (packets["t_ns"].max() + pl.int_range(1, 6)).alias("t_ns")
    )
    pl.concat([packets, resets.select(packets.columns)]).write_parquet(path)
    steps = ladder(view(open_tables(folder)), 2).steps
    assert [step.head for step in steps][-2:] == ["FIN ACK", "RST"]


def test_a_few_high_points_make_a_scale_logarithmic(tables: Path) -> None:
    chosen = view(open_tables(tables))
    packets = chosen.packets.filter(pl.col("connection") == 2)
    usual = series.trips_over_time(packets, "server", chosen.origin_ns)
    assert not usual.logarithmic
    first = pl.col("rtt_ns").is_not_null().cum_sum() == 1
    late = packets.with_columns(pl.when(first).then(10**9).otherwise("rtt_ns").alias("rtt_ns"))
    found = series.trips_over_time(late, "server", chosen.origin_ns)
    assert found.logarithmic
    assert found.found == usual.found
    assert found.frame["y"].to_numpy().max() == pytest.approx(1000)
