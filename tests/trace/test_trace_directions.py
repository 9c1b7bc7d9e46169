"""Figures by direction, beside packets by hand and the truth of a world."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.trace.tabulate import write
from tests.trace.world import MS, SEGMENT, Line, World
from tests.trace.world import Path as Way

from mptcplab.trace import open_tables
from mptcplab.trace.directions import data_directions, data_flight, directions
from mptcplab.trace.figures import shares
from mptcplab.trace.pairs.pair import Pair, pair
from mptcplab.trace.tables import PACKETS


def _packets(*rows: dict[str, Any]) -> pl.LazyFrame:
    """Packets of subflow 0 and connection 0, a millisecond apart."""
    usual = {"connection": 0, "subflow": 0, "flags": "A", "kind": "new"}
    numbers = ("payload_bytes", "new_bytes", "newly_acknowledged_bytes")
    filled = [
        {column.name: None for column in PACKETS.columns}
        | usual
        | dict.fromkeys(numbers, 0)
        | {"t_ns": place * MS}
        | row
        for place, row in enumerate(rows)
    ]
    return pl.DataFrame(filled, schema=PACKETS.schema).lazy().with_row_index("place")


def _data(sequence: int, size: int, **values: Any) -> dict[str, Any]:
    row = {"from": "client", "sequence": sequence, "payload_bytes": size, "new_bytes": size}
    return row | values


def _answer(acknowledgement: int, newly: int, **values: Any) -> dict[str, Any]:
    row = {"from": "server", "acknowledgement": acknowledgement, "kind": "acknowledgement"}
    return row | {"newly_acknowledged_bytes": newly} | values


def test_the_initial_window_ends_with_the_first_acknowledgement_of_data() -> None:
    packets = _packets(
        {"from": "client", "sequence": 0, "flags": "S"},
        _answer(1, 0, flags="AS", sequence=0),
        _data(1, 100),
        _data(101, 50),
        _data(1, 100, new_bytes=0, kind="timeout_retransmission"),
        _answer(101, 100, rtt_ns=2 * MS),
        _data(151, 30, t_ns=20 * MS),
        _data(151, 30, t_ns=20 * MS, kind="duplicate"),
    )
    client, server = directions(packets).to_dicts()
    assert (client["initial_window_packets"], client["initial_window_bytes"]) == (2, 150)
    assert (client["data_packets"], client["segment_min_bytes"]) == (4, 30)
    assert (client["segment_mean_bytes"], client["segment_max_bytes"]) == (70, 100)
    assert client["packet_gap_max_ns"] == 16 * MS
    assert client["throughput_mbps"] == pytest.approx(180 * 8 / 20e3)
    assert client["rtt_median_ns"] == client["rtt_p99_ns"] == 2 * MS
    assert (server["pure_acknowledgements"], server["segment_min_bytes"]) == (1, None)
    assert server["initial_window_packets"] is None


def test_without_the_first_byte_the_initial_window_is_not_known() -> None:
    (client,) = directions(_packets(_data(5000, 100))).to_dicts()
    assert client["initial_window_packets"] is client["throughput_mbps"] is None


def test_the_flight_of_a_connection_is_that_of_all_of_its_subflows() -> None:
    packets = _packets(
        _data(1, 100, data_sequence=1),
        _data(1, 100, subflow=1, data_sequence=101),
        _answer(101, 100, subflow=1, data_acknowledgement=1),
        _data(101, 50, data_sequence=1, new_bytes=50),
        _answer(151, 50, data_acknowledgement=201, data_rtt_ns=4 * MS),
    )
    found = data_flight(packets).collect()
    assert found["from"].unique().to_list() == ["client"]
    assert found["in_flight_bytes"].to_list() == [100, 200, 200, 200, 0]
    (row,) = data_directions(packets).to_dicts()
    assert (row["flight_max_bytes"], row["flight_mean_bytes"]) == (200, 175)
    assert row["data_rtt_median_ns"] == 4 * MS


def test_the_flight_of_plain_tcp_is_that_of_its_subflow() -> None:
    found = data_flight(_packets(_data(7001, 100), _answer(7101, 100))).collect()
    assert found["in_flight_bytes"].to_list() == [100, 0]


def test_packets_without_numbers_have_no_figures() -> None:
    packets = _packets({"from": "server", "flags": "R"})
    assert data_directions(packets).is_empty()
    assert directions(packets).height == 1
    assert directions(packets.filter(pl.col("place") > 5)).is_empty()


def test_shares_of_each_span_are_one_together(tables: Path) -> None:
    samples = open_tables(tables).samples.filter(pl.col("from") == "server", connection=0)
    found = shares(samples, 10)
    together = found.group_by("until_ns").agg(pl.col("share").sum())
    assert together.height <= 10
    assert together["share"].to_list() == pytest.approx([1.0] * together.height)
    # Subflow 0 dies after two of four seconds; subflow 2 carries nothing before.
    spans = found.partition_by("until_ns", maintain_order=True)
    assert 0 in spans[0]["subflow"]
    assert spans[-1]["subflow"].to_list() == [1, 2]


def _reinjected(tmp_path: Path, delay_ns: int, *, lost: bool = False) -> Pair:
    """A segment over WiFi that comes after 10 ms, and 5 ms later its copy over another path."""
    world = World()
    wifi = Line(world, 0, 0, Way(("10.0.1.2", 1), ("10.0.9.2", 2), 10 * MS))
    eth = Line(world, 0, 1, Way(("10.0.2.2", 1), ("10.0.9.2", 2), delay_ns))
    for line in (wifi, eth):
        line.handshake(0, None, None, None)
    first = wifi.data(100 * MS, 1)
    copy = eth.data(
        105 * MS, 1, lost=lost, new_data_bytes=0, reinjected_bytes=SEGMENT, reinjected_from=0
    )
    eth.data(150 * MS, 1 + SEGMENT)
    world.packets.sort(key=lambda packet: packet.sent_ns)
    here = open_tables(write(tmp_path / "server", world, "server"))
    # The receiver's capture counts as new what comes first.
    if copy.came_ns is not None and first.came_ns is not None and copy.came_ns < first.came_ns:
        copy.new_data_bytes, first.new_data_bytes = SEGMENT, 0
    there = open_tables(write(tmp_path / "client", world, "client"))
    return pair(here, there, same_clock=True)


@pytest.mark.parametrize(
    ("delay_ns", "lost", "column"),
    [
        (MS, False, "useful_bytes"),
        (30 * MS, False, "redundant_bytes"),
        (MS, True, "lost_bytes"),
    ],
)
def test_a_copy_is_useful_where_it_comes_first(
    tmp_path: Path, delay_ns: int, lost: bool, column: str
) -> None:
    (row,) = _reinjected(tmp_path, delay_ns, lost=lost).reinjections.to_dicts()
    assert (row["subflow"], row["from"], row["packets"]) == (1, "server", 1)
    assert row["reinjected_bytes"] == row[column] == SEGMENT
    sizes = [row[name] for name in ("useful_bytes", "redundant_bytes", "lost_bytes")]
    assert sum(sizes) == SEGMENT
    if lost:
        assert row["lead_median_ns"] is None
    else:
        assert (row["lead_median_ns"] > 0) == (column == "useful_bytes")
