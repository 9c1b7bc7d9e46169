"""Graphs as tables and files, beside the packets that they are made of."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from tests.trace.handmade import captures
from tests.trace.handmade.talks import TALKS

from mptcplab import trace
from mptcplab.trace.errors import TraceError
from mptcplab.trace.graph_files import write_graphs
from mptcplab.trace.graphs import SERIES, data_sequence, in_flight, rtt, time_sequence
from mptcplab.trace.render.xplot import COLOURS, Labels, xplot

POINT = r"\d+\.\d{6} \d+"
COMMANDS = (
    r"timeval unsigned",
    rf"line {POINT} {POINT}",
    rf"(dot|darrow|uarrow|htick|atext) {POINT}",
    r"white|green|red|blue|yellow|purple|orange|magenta|pink",
    r"go",
)
"""Lines of xplot's language, but for the texts behind `title`, `xlabel`, `ylabel` and `atext`."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, trace.Trace]:
    folder = tmp_path_factory.mktemp("graphs")
    names = ("reinjected", "retransmitted", "many-holes", "v1", "tcp")
    files = {
        name: captures.write(folder / f"{name}.pcapng", captures.pcapng(TALKS[name]().frames))
        for name in names
    }
    return {name: trace.read(file, workers=1) for name, file in files.items()}


def _side(found: trace.Trace) -> str:
    row = found.connections.row(0, named=True)
    return max(("client", "server"), key=lambda end: int(row[f"{end}_payload_bytes"]))


def test_segments_are_the_packets_with_payload(found: dict[str, trace.Trace]) -> None:
    for one in found.values():
        sender = _side(one)
        usual = ~pl.col("kind").is_in(["duplicate", "not_acceptable"])
        for (subflow,), own in one.packets.filter(usual).collect().group_by("subflow"):
            graph = time_sequence(own.lazy(), sender)
            sent = own.filter(pl.col("from") == sender, pl.col("payload_bytes") > 0)
            segments = graph.filter(~pl.col("what").is_in(["acknowledgement", "window", "sack"]))
            assert segments["frame"].to_list() == sent["frame"].to_list(), subflow
            assert (segments["high"] - segments["low"]).to_list() == sent["payload_bytes"].to_list()
            assert set(graph["what"]) <= set(SERIES)


def test_blocks_of_sack_lie_within_what_was_sent(found: dict[str, trace.Trace]) -> None:
    one = found["retransmitted"]
    sender = _side(one)
    graph = time_sequence(one.packets.filter(pl.col("subflow") == 0), sender)
    blocks = graph.filter(what="sack")
    assert blocks.height > 0
    segments = graph.filter(pl.col("what") == "new")
    assert set(blocks["low"]) <= set(segments["low"])
    assert set(blocks["high"]) <= set(segments["high"])


def test_reinjected_data_and_the_data_acknowledgement_are_told(
    found: dict[str, trace.Trace],
) -> None:
    one = found["reinjected"]
    sender = _side(one)
    graph = data_sequence(one.packets, sender)
    copies = graph.filter(what="reinjected")
    packets = one.packets.filter(pl.col("from") == sender, pl.col("reinjected_bytes") > 0)
    assert copies["frame"].to_list() == packets.collect()["frame"].to_list() != []
    line = graph.filter(what="acknowledgement")["high"]
    assert line.is_sorted()
    assert line.n_unique() == line.len() > 1


def test_data_in_flight_is_that_of_the_packets(found: dict[str, trace.Trace]) -> None:
    for one in found.values():
        sender = _side(one)
        graph = in_flight(one.numbered_packets, sender)
        sent = one.packets.filter(pl.col("from") == sender, pl.col("payload_bytes") > 0).collect()
        both = graph.filter(what="in_flight").join(sent, on=["subflow", "frame"])
        assert both["low"].to_list() == both["in_flight_bytes"].to_list()
        assert both.height > 0
        trips = rtt(one.packets, sender)
        assert (trips["low"] > 0).all()


@pytest.mark.parametrize("name", ["reinjected", "many-holes", "v1", "tcp"])
def test_files_of_graphs_can_be_read(
    name: str, found: dict[str, trace.Trace], tmp_path: Path
) -> None:
    names = write_graphs(trace.view(found[name]), tmp_path / "graphs")
    assert len(names) >= 3
    assert ("data-sequence" in " ".join(names)) == (name != "tcp")
    for graph in names:
        rows = pl.read_csv(tmp_path / "graphs" / f"{graph}.csv")
        assert rows.height > 0
        assert set(rows["what"]) <= set(SERIES)
        begin = found[name].capture.first_ns
        assert ((rows["t_ns"] - begin) / 1e9 - rows["t_s"]).abs().max() == pytest.approx(0)
        lines = (tmp_path / "graphs" / f"{graph}.xpl").read_text("ascii").splitlines()
        _check(lines)


def _check(lines: list[str]) -> None:
    assert lines[0] == "timeval unsigned"
    assert lines[-1] == "go"
    texts = iter(lines)
    for line in texts:
        if line in ("title", "xlabel", "ylabel") or line.startswith("atext "):
            next(texts)
            continue
        assert any(re.fullmatch(command, line) for command in COMMANDS), line


def test_each_kind_of_segment_has_a_colour_and_hostile_numbers_do_no_harm() -> None:
    rows = [
        (at, what, None, low, low + 10, 1)
        for at in (-5, 0, 2**62)
        for what in SERIES
        for low in (-(2**40), 0, 2**62)
    ]
    columns = ["t_ns", "what", "subflow", "low", "high", "frame"]
    graph = pl.DataFrame(rows, schema=columns, orient="row")
    _check(list(xplot(graph, Labels("all", "numbers"))))
    points = {"rtt", "data_rtt", "in_flight", "data_in_flight"}
    assert set(SERIES) - set(COLOURS) == points


def test_a_folder_that_cannot_be_is_named(found: dict[str, trace.Trace], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="file/graphs: cannot be written"):
        write_graphs(trace.view(found["tcp"]), tmp_path / "file" / "graphs")
