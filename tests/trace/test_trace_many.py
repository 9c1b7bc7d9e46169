"""Very many subflows and connections: what is shown of them, and what that takes."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.trace.handmade import captures
from tests.trace.handmade.captures import Frame
from tests.trace.handmade.talks import TALKS
from tests.trace.tabulate import write
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.trace import open_tables, read, view
from mptcplab.trace.render.html import to_html
from mptcplab.trace.render.json import json_lines, to_json

JOINS = 10_000
CONNECTIONS = 2_000


def _rewrite(folder: Path, table: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    path = folder / f"{table}.parquet"
    frame = pl.read_parquet(path)
    change(frame).match_to_schema(frame.schema, integer_cast="upcast").write_parquet(path)


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Connection 0 with ten thousand joins of its client that carried nothing."""
    folder = write(tmp_path_factory.mktemp("flooded"))

    def joins(subflows: pl.DataFrame) -> pl.DataFrame:
        join = subflows.filter(connection=0, subflow=1).drop("subflow")
        nothing = [pl.lit(0).alias(f"{end}_payload_bytes") for end in ("client", "server")]
        nothing += [pl.lit(0).alias(f"{end}_retransmissions") for end in ("client", "server")]
        numbers = pl.int_range(3, 3 + JOINS, dtype=pl.UInt32, eager=True).alias("subflow")
        many = join.with_columns(*nothing, origin=pl.lit("join"), opener=pl.lit("client")).join(
            numbers.to_frame(), how="cross"
        )
        return pl.concat([subflows, many.select(subflows.columns)], how="vertical_relaxed")

    _rewrite(folder, "subflows", joins)
    return folder


def _text(*arguments: object) -> list[str]:
    found = CliRunner().invoke(app, ["trace", *map(str, arguments)], env={"COLUMNS": "200"})
    assert found.exit_code == 0, found.output
    return found.stdout.splitlines()


def test_ten_thousand_joins_are_told_as_a_flood(flooded: Path) -> None:
    lines = _text(flooded, "--connection", 0)
    assert len(lines) < 200
    told = " ".join(" ".join(lines).split())
    assert (
        "Of 10 003 subflows the 50 that carried most are shown, 9 953 are left out: --all shows "
        "them. 10 000 joins carried no data, most of them by the client: this looks like a flood "
        "of joins." in told
    )
    # The subflows that carried something are among those that are shown.
    numbers = [line.split()[0] for line in lines if "join by" in line or "  initial " in line]
    assert numbers == [str(number) for number in range(50)]


def test_all_shows_every_subflow_and_json_has_every_one(flooded: Path) -> None:
    lines = _text(flooded, "--connection", 0, "--all")
    assert sum("join by" in line for line in lines) == JOINS + 2
    found = json.loads("\n".join(_text(flooded, "--connection", 0, "--json")))
    assert len(found["connections"][0]["subflows"]) == JOINS + 3


def test_few_subflows_are_all_shown_without_a_word(tables: Path) -> None:
    lines = _text(tables, "--connection", 0)
    assert not [line for line in lines if "are left out" in line or "flood" in line]


def test_a_page_of_a_flood_is_small(flooded: Path) -> None:
    page = to_html(view(open_tables(flooded), connections=[0]))
    assert "this looks like a flood of joins" in page
    assert page.count("join by client") < 100


def test_statistics_and_plots_of_a_flood_are_short(tmp_path: Path) -> None:
    """Two thousand SYNs with MP_JOIN and the token of a connection, from as many ports."""
    talk = list(TALKS["v1"]().frames)
    join = [frame for frame in talk if frame.packet[33] & 0x12 == 2][1]
    flood = [
        Frame(talk[16].at_ns + place, 0, b"".join(
            [join.packet[:20], (10_000 + place).to_bytes(2, "big"), join.packet[22:24],
             (7919 * place).to_bytes(4, "big"), join.packet[28:]],
        ))
        for place in range(2000)
    ]  # fmt: skip
    frames = sorted([*talk, *flood], key=lambda frame: frame.at_ns)
    file = captures.write(tmp_path / "flood.pcap", captures.pcap(frames))
    lines = _text(file, "--connection", 0, "--statistics")
    told = " ".join(" ".join(lines).split())
    assert "2 000 joins carried no data, most of them by the client" in told.replace("\u202f", " ")
    head = "intervals between the starts of subflows, the first 50 and from the first to the last"
    assert head in told
    assert len(lines) < 600
    with read(file) as found:
        assert found.subflows.filter(connection=0).height == 2002
        page = to_html(view(found, connections=[0]))
    assert len(page) < 1_000_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand connections like one of plain TCP."""
    folder = write(tmp_path_factory.mktemp("many"))
    for table in ("connections", "subflows", "addresses", "events", "samples"):
        _rewrite(
            folder,
            table,
            lambda frame: (
                frame.filter(connection=2)
                .drop("connection")
                .join(
                    pl.int_range(CONNECTIONS, dtype=pl.UInt32, eager=True)
                    .alias("connection")
                    .to_frame(),
                    how="cross",
                )
                .select(frame.columns)
            ),
        )
    return folder


@pytest.mark.parametrize("statistics", [False, True])
def test_json_of_many_connections_is_made_a_part_at_a_time(many: Path, statistics: bool) -> None:
    chosen = view(open_tables(many))
    assert [one["id"] for one in to_json(chosen)["connections"]] == list(range(CONNECTIONS))
    tracemalloc.start()
    written = sum(len(line) for line in json_lines(chosen, statistics=statistics))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert written > 5_000_000
    assert most < written / 2


@pytest.mark.parametrize("statistics", [False, True])
def test_lines_of_json_are_the_object(tables: Path, statistics: bool) -> None:
    chosen = view(open_tables(tables))
    pair = {"near": "client"}
    text = "\n".join(json_lines(chosen, statistics=statistics, pair=pair))
    assert json.loads(text) == to_json(chosen, statistics=statistics, pair=pair)
    nothing = view(open_tables(tables), matching="bytes > 1000 GB")
    assert json.loads("\n".join(json_lines(nothing)))["connections"] == []
