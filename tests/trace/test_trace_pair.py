"""Two captures of one world: what is found beside what was."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.trace.stories import everything
from tests.trace.tabulate import exact, write
from tests.trace.world import MS, SECOND, START_NS, World

from mptcplab.trace import TraceError, open_tables
from mptcplab.trace.pair_clock import Cloud, estimate
from mptcplab.trace.pairing import Pair, pair

AHEAD_NS = 1234 * MS + 567
DRIFT = 40e-6


def _ahead(true_ns: int) -> int:
    """A clock that is ahead, and fast."""
    return true_ns + AHEAD_NS + round(DRIFT * (true_ns - START_NS))


def _pair(tmp_path: Path, clock: Callable[[int], int], world: World | None = None) -> Pair:
    world = world or everything()
    here = write(tmp_path / "client", world, "client", exact)
    there = write(tmp_path / "server", world, "server", clock)
    return pair(open_tables(here), open_tables(there))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return _pair(tmp_path_factory.mktemp("pair"), _ahead)


def test_the_clock_is_found_within_what_it_says_of_itself(found: Pair) -> None:
    clock = found.clock
    true = _ahead(clock.zero_ns) - clock.zero_ns
    assert abs(clock.offset_ns - true) <= clock.offset_uncertainty_ns
    # The least round trip of all is that of plain TCP, 5 ms each way.
    assert clock.offset_uncertainty_ns < 6 * MS
    # The least delays of both directions are equal there but for the jitter of 2 ms.
    assert abs(clock.offset_ns - true) < MS
    assert abs(clock.drift - DRIFT) <= clock.drift_uncertainty


def test_loss_is_known_packet_by_packet(found: Pair) -> None:
    packets = everything().packets
    for row in found.paths.iter_rows(named=True):
        own = [
            p
            for p in packets
            if (p.connection, p.subflow, p.sender)
            == (row["connection"], row["subflow"], row["from"])
        ]
        lost = [p for p in own if p.came_ns is None]
        assert (row["packets"], row["lost"]) == (len(own), len(lost)), row
        assert row["lost_bytes"] == sum(p.payload_bytes for p in lost)
        assert row["loss"] == len(lost) / len(own)
        assert row["strays"] == 0
    assert found.paths["lost"].sum() == 12


def test_every_packet_that_came_is_matched_with_itself(found: Pair) -> None:
    came = [p for p in everything().packets if p.came_ns is not None]
    assert found.packets.height == len(came)
    true = sorted((p.connection, p.subflow, p.sender, p.sent_ns, p.came_ns) for p in came)
    delays = [came_ns - sent_ns for *_, sent_ns, came_ns in true if came_ns is not None]
    by_sent = found.packets.with_columns(
        pl.when(pl.col("from") == "client")
        .then(pl.col("t_ns"))
        .otherwise(pl.col("peer_t_ns"))
        .alias("sent_ns")
    ).sort("connection", "subflow", "from", "sent_ns")
    apart = np.abs(by_sent["delay_ns"].to_numpy() - np.array(delays))
    assert apart.max() < 2 * MS


def test_delays_are_those_of_the_paths(found: Pair) -> None:
    true = {(0, 0): 10, (0, 1): 20, (0, 2): 15, (1, 0): 10, (2, 0): 5}
    for row in found.paths.iter_rows(named=True):
        least = true[row["connection"], row["subflow"]]
        assert least - 1 < row["delay_min_ns"] / MS < least + 2
        assert row["delay_max_ns"] / MS < least + 4


def test_reordering_is_counted_as_the_world_made_it(found: Pair) -> None:
    packets = sorted(everything().packets, key=lambda p: p.sent_ns)
    for row in found.paths.iter_rows(named=True):
        key = (row["connection"], row["subflow"], row["from"])
        own = [
            (place, p.came_ns)
            for place, p in enumerate(packets)
            if (p.connection, p.subflow, p.sender) == key and p.came_ns is not None
        ]
        own.sort(key=lambda one: (one[1], one[0]))
        latest, late = -1, 0
        for place, _ in own:
            late += place < latest
            latest = max(latest, place)
        assert row["reordered"] == late, key
    assert found.paths["reordered"].sum() > 0


def test_the_order_of_the_captures_does_not_count(tmp_path: Path, found: Pair) -> None:
    world = everything()
    here = write(tmp_path / "server", world, "server", _ahead)
    there = write(tmp_path / "client", world, "client", exact)
    other = pair(open_tables(here), open_tables(there))
    assert (found.near, other.near) == ("client", "server")
    columns = ["connection", "subflow", "from", "packets", "lost", "reordered"]
    assert other.paths.select(columns).equals(found.paths.select(columns))
    assert other.choice_summary["taken"].to_list() == found.choice_summary["taken"].to_list()


def test_what_was_known_at_a_choice(found: Pair) -> None:
    own = found.choices.filter(connection=0)
    assert own["from"].unique().to_list() == ["server"]
    assert (own["heard_ns"] > 0).all()
    # What comes over a path is at least as old as the path is long.
    age = own.group_by("subflow").agg(pl.col("age_ns").min() / MS).sort("subflow")
    for least, measured in zip((10, 20, 15), age["age_ns"], strict=True):
        assert least - 1 < measured < least + 4
    taken = found.choice_summary.filter(connection=0)
    segments = own.select("t_ns", "frame").unique().height
    assert taken["taken"].sum() == segments
    assert taken["lowest_rtt"].sum() <= segments
    # Subflow 0 dies after two seconds: what is known of it gets old.
    late = own.filter(pl.col("t_ns") > pl.col("t_ns").max() - SECOND // 2, pl.col("subflow") == 0)
    assert (late["age_ns"] > SECOND).all()
    assert late["chosen"].unique().sort().to_list() == [1, 2]


def test_known_round_trips_are_the_last_ones_that_were_measured(found: Pair) -> None:
    row = found.choices.filter(connection=0, subflow=1).sort("t_ns").row(-1, named=True)
    packets = [p for p in everything().packets if (p.connection, p.subflow) == (0, 1)]
    measured = [(p.came_ns, p.rtt_ns) for p in packets if p.rtt_ns and p.came_ns]
    # By the clock of the first capture the server's times are true to less than a millisecond.
    earlier = sorted(came for came, _ in measured if came < row["t_ns"] - MS)
    last = [rtt for came, rtt in measured if came >= earlier[-1]]
    assert row["rtt_ns"] in last


def test_segments_that_the_interface_cut_are_matched_by_range(tmp_path: Path) -> None:
    world = everything()
    here = write(tmp_path / "client", world, "client", exact)
    there = write(tmp_path / "server", world, "server", exact)
    path = there / "packets.parquet"
    packets = pl.read_parquet(path)
    # Of plain TCP, four segments at a time as one.
    data = packets.filter(
        pl.col("connection") == 2, pl.col("from") == "server", pl.col("payload_bytes") > 0
    )
    joined = (
        data.with_columns((pl.int_range(pl.len()) // 4).alias("group"))
        .group_by("group", maintain_order=True)
        .agg(
            pl.col("payload_bytes").sum(),
            pl.exclude("group", "payload_bytes").first(),
        )
        .select(packets.columns)
        .match_to_schema(packets.schema, integer_cast="upcast")
    )
    rest = packets.join(data.select("frame"), on="frame", how="anti")
    pl.concat([rest, joined]).sort("t_ns").write_parquet(path)
    found = pair(open_tables(here), open_tables(there), connections=[2])
    row = found.paths.filter(pl.col("from") == "server").row(0, named=True)
    assert (row["packets"], row["lost"], row["lost_bytes"]) == (12, 0, 0)
    assert row["strays"] == 0
    sent = found.packets.filter(pl.col("from") == "server", pl.col("bytes") > 0)
    assert sent["bytes"].to_list() == [1400] * 40
    assert sent["peer_frame"].n_unique() == 10


def test_a_lost_first_sending_is_not_taken_for_the_second(tmp_path: Path) -> None:
    world = everything()
    for packet in world.packets:
        packet.identification = 0
    found = _pair(tmp_path, exact, world)
    # Without identifications and timestamps, what came is the last sending.
    row = found.paths.filter(pl.col("from") == "server", connection=0, subflow=1)
    assert row["delay_max_ns"].item() < 25 * MS


def test_captures_without_anything_in_common_are_refused(tmp_path: Path) -> None:
    here = write(tmp_path / "one")
    there = write(tmp_path / "other")
    subflows = pl.read_parquet(there / "subflows.parquet")
    subflows.with_columns(client_port=pl.col("client_port") + 1).write_parquet(
        there / "subflows.parquet"
    )
    packets = pl.read_parquet(there / "packets.parquet")
    packets.with_columns(raw_sequence=pl.col("raw_sequence") + 77).write_parquet(
        there / "packets.parquet"
    )
    with pytest.raises(TraceError, match="no subflow in common"):
        pair(open_tables(here), open_tables(there))


def _points(count: int, seconds: int, seed: int) -> Cloud:
    """Packets both ways with least delays of 10 ms, queueing, and a clock that drifts."""
    random = np.random.default_rng(seed)
    at = np.sort(random.integers(0, seconds * SECOND, count))
    queue = random.exponential(3 * MS, (2, count))
    line = AHEAD_NS + DRIFT * at
    forward = np.rint(line + 10 * MS + queue[0]).astype(np.int64)
    backward = np.rint(line - 10 * MS - queue[1]).astype(np.int64)
    return Cloud(at, forward, at, backward)


@pytest.mark.parametrize("seconds", [10, 100, 1000])
def test_drift_is_found_the_better_the_longer_it_is_watched(seconds: int) -> None:
    clock = estimate([_points(20_000, seconds, 7)])
    assert clock is not None
    assert abs(clock.drift - DRIFT) < 0.1 * MS / (seconds * SECOND) * 4
    assert abs(clock.drift - DRIFT) <= clock.drift_uncertainty
    assert abs(clock.offset_ns - AHEAD_NS) < 0.1 * MS
    assert clock.offset_uncertainty_ns == pytest.approx(10 * MS, rel=0.02)


def test_unequal_delays_are_within_the_uncertainty() -> None:
    at = np.arange(0, 10 * SECOND, 10 * MS)
    cloud = Cloud(at, np.full(at.size, 30 * MS), at, np.full(at.size, -10 * MS))
    clock = estimate([cloud])
    assert clock is not None
    assert clock.offset_ns == 10 * MS
    assert clock.offset_uncertainty_ns == 20 * MS
    assert clock.drift == pytest.approx(0, abs=1e-9)


def test_a_shorter_path_bounds_the_offset() -> None:
    at = np.arange(0, 10 * SECOND, 10 * MS)
    long = Cloud(at, np.full(at.size, 50 * MS), at, np.full(at.size, -10 * MS))
    short = Cloud(at, np.full(at.size, 5 * MS), at, np.full(at.size, -5 * MS))
    clock = estimate([long, short])
    assert clock is not None
    assert (clock.offset_ns, clock.offset_uncertainty_ns) == (0, 5 * MS)


def test_one_direction_tells_no_offset() -> None:
    at = np.arange(3, dtype=np.int64)
    assert estimate([Cloud(at, at, at[:0], at[:0])]) is None
