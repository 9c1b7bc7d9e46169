"""Figures that are made from the tables, beside truth."""

from pathlib import Path

import polars as pl
import pytest
from tests.trace.world import SECOND

from mptcplab.trace import open_tables, view
from mptcplab.trace.figures import cumulative, round_trips, rtt_by_sequence
from mptcplab.trace.handover import SCHEMA, handovers
from mptcplab.trace.render.json import intervals

BIN = SECOND // 10


def test_goodput_goes_from_the_first_packet_to_the_last_new_byte(tables: Path) -> None:
    row = view(open_tables(tables)).connections.row(2, named=True)
    seconds = (row["server_last_data_ns"] - row["start_ns"]) / 1e9
    assert row["server_goodput_mbps"] == pytest.approx(40 * 1400 * 8 / 1e6 / seconds)
    assert row["client_goodput_mbps"] is None
    assert row["duration_ns"] == row["end_ns"] - row["start_ns"]


def test_intervals_are_those_between_starts(tables: Path) -> None:
    subflows = view(open_tables(tables)).subflows.filter(connection=0)
    starts = subflows["start_ns"].to_list()
    assert subflows["after_previous_ns"].to_list() == [
        None,
        starts[1] - starts[0],
        starts[2] - starts[1],
    ]
    assert subflows["after_first_ns"].to_list()[2] == starts[2] - starts[0]
    pairs = [(0, 1), (1, 2), (0, 2)]
    assert intervals(subflows.iter_rows(named=True)) == [
        {"from_subflow": a, "to_subflow": b, "interval_ns": starts[b] - starts[a]} for a, b in pairs
    ]


def test_cumulative_bytes_end_at_what_was_carried(tables: Path) -> None:
    trace = open_tables(tables)
    course = (
        cumulative(trace.samples)
        .group_by("connection", "from", "subflow")
        .agg(pl.col("bytes").last())
    )
    carried = trace.subflows.select(
        "connection", "subflow", pl.col("server_bytes").alias("carried")
    )
    both = course.filter(pl.col("from") == "server").join(carried, on=["connection", "subflow"])
    assert both.height == 5
    assert both["bytes"].to_list() == both["carried"].to_list()


def test_round_trips_belong_to_the_end_whose_data_was_acknowledged(tables: Path) -> None:
    trips = round_trips(open_tables(tables).packets).collect()
    assert trips["from"].unique().to_list() == ["server"]
    slices = rtt_by_sequence(open_tables(tables).packets, 4)
    assert slices["samples"].sum() == trips.height
    first = slices.filter(connection=2).sort("slice")
    assert first["slice"].to_list() == [0, 1, 2, 3]
    assert first["last_sequence"].to_list() == [14001, 28001, 42001, 56001]
    assert first["rtt_min_ns"].min() == trips.filter(connection=2)["rtt_ns"].min()


def test_a_handover_has_its_silence_and_its_recovery(tables: Path) -> None:
    chosen = view(open_tables(tables))
    (row,) = chosen.handovers.iter_rows(named=True)
    known = chosen.connections.row(0, named=True)
    assert (row["from_subflow"], row["to_subflow"], row["from"]) == (0, 1, "server")
    assert row["silence_ns"] == known["server_silence_ns"]
    assert row["recovery_ns"] == row["silence_ns"]


def _course(subflows: dict[int, list[int]]) -> pl.DataFrame:
    """Samples with 1000 new bytes in these bins of each subflow."""
    return pl.DataFrame(
        [
            {
                "connection": 0,
                "subflow": subflow,
                "from": "server",
                "t_ns": place * BIN,
                "new_data_bytes": 1000,
            }
            for subflow, bins in subflows.items()
            for place in bins
        ]
    )


def _moved(at: int) -> pl.DataFrame:
    row = {"connection": 0, "subflow": 1, "from": "server", "t_ns": at, "kind": "traffic_moved"}
    return pl.DataFrame([row])


KNOWN = pl.DataFrame(
    [{"connection": 0, "server_silence_at_ns": None, "server_silence_ns": None}],
    schema={
        "connection": pl.Int64,
        "server_silence_at_ns": pl.Int64,
        "server_silence_ns": pl.Int64,
    },
)


@pytest.mark.parametrize(
    ("first", "second", "silence", "recovery"),
    [
        # Ten bins, a second of silence, then the other one.
        (range(10), range(20, 40), 10 * BIN, 10 * BIN),
        # The other one takes over at once.
        (range(10), range(10, 40), 0, 0),
        # It ends before a second of delivery has passed.
        (range(10), range(20, 25), 10 * BIN, None),
        # The first delivery after the silence stands alone: recovered later.
        (range(10), [20, *range(25, 45)], 10 * BIN, 15 * BIN),
    ],
)
def test_recovery_is_the_first_sustained_delivery(
    first: range, second: range, silence: int, recovery: int | None
) -> None:
    samples = _course({0: list(first), 1: list(second)})
    (row,) = handovers(_moved(second[0] * BIN), samples, KNOWN).iter_rows(named=True)
    assert row["from_subflow"] == 0
    assert (row["silence_ns"], row["recovery_ns"]) == (silence, recovery)


def test_without_moves_there_are_no_handovers() -> None:
    none = _moved(0).clear()
    assert handovers(none, _course({0: [1]}), KNOWN).schema == SCHEMA
