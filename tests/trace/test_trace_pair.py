"""Two captures of one world: what is found beside what was."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.trace.clocks import AHEAD_NS, DRIFT
from tests.trace.handmade import captures
from tests.trace.handmade.captures import Frame
from tests.trace.handmade.flow import Talk
from tests.trace.handmade.resets import in_syn_sent
from tests.trace.ours import analyse
from tests.trace.stories import everything
from tests.trace.tabulate import exact, write
from tests.trace.world import MS, SECOND, START_NS, World

from mptcplab.trace import TraceError, open_tables
from mptcplab.trace.pairs.pair import Pair, pair
from mptcplab.trace.pairs.words import PPM, TIMES, clock_lines, pair_json, with_uncertainty
from mptcplab.trace.words import count


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
        latest, late, extents, times = -1, 0, [0], [0]
        for order, (place, came_ns) in enumerate(own):
            if place < latest:
                late += 1
                first = next(n for n, (other, _) in enumerate(own) if other > place)
                extents.append(order - first)
                times.append(came_ns - (own[first][1] or 0))
            latest = max(latest, place)
        assert row["reordered"] == late, key
        assert row["reordering_extent_max"] == max(extents)
        assert abs(row["late_max_ns"] - max(times)) < 2
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
    # News that comes over a path is at least as old as the path is long.
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


def test_a_clock_that_was_set_is_told_with_the_delays_it_made_negative(tmp_path: Path) -> None:
    middle = START_NS + 2 * SECOND
    found = _pair(tmp_path, lambda true: true + (300 * MS if true > middle else 0))
    assert not found.clock.consistent
    assert found.negative_delays == found.packets.filter(pl.col("delay_ns") < 0).height > 0
    lines = list(clock_lines(found))
    assert lines[2].startswith("No offset and drift fit all packets: a clock was set")
    assert lines[3] == (
        f"{count(found.negative_delays)} packets came before they were sent: the delays below are "
        "wrong by as much at least."
    )
    told = pair_json(found)
    assert told["clock"]["consistent"] is False
    assert told["negative_delays"] == found.negative_delays


def test_one_clock_is_taken_at_its_word(tmp_path: Path) -> None:
    world = everything()
    here = write(tmp_path / "client", world, "client", exact)
    there = write(tmp_path / "server", world, "server", exact)
    found = pair(open_tables(here), open_tables(there), same_clock=True)
    assert (found.clock.offset_ns, found.clock.drift, found.clock.same) == (0, 0.0, True)
    delays = [p.came_ns - p.sent_ns for p in world.packets if p.came_ns is not None]
    assert sorted(found.packets["delay_ns"]) == sorted(delays)
    assert found.negative_delays == 0
    assert "Both captures were made by one clock: no offset and no drift is taken out." in list(
        clock_lines(found)
    )


def test_the_other_capture_and_its_numbers_are_told(tmp_path: Path, found: Pair) -> None:
    lines = list(clock_lines(found))
    assert lines[0] == "The other capture: both.pcapng."
    assert lines[1].endswith("Connections have the same numbers in both.")
    world = everything()
    here = write(tmp_path / "client", world, "client", exact)
    there = write(tmp_path / "server", world, "server", exact)
    for path in there.glob("*.parquet"):
        frame = pl.read_parquet(path)
        if "connection" in frame.columns:
            swapped = pl.col("connection").replace({0: 2, 2: 0})
            frame.with_columns(swapped).match_to_schema(frame.schema).write_parquet(path)
    other = pair(open_tables(here), open_tables(there))
    assert list(clock_lines(other))[1].endswith(
        "Of connections, 0 there 2, 2 there 0 are the same. The others have the same numbers."
    )
    rows = pair_json(other)["subflows"]
    assert {(row["connection"], row["peer_connection"]) for row in rows} == {(0, 2), (1, 1), (2, 0)}


@pytest.mark.parametrize(
    ("value", "uncertainty", "told"),
    [
        (350, 1, ("350.0 ns", "1.0 ns")),
        (-848_712, 12_345, ("849 µs", "13 µs")),
        (1_234_567_890, 5_031_000, ("1.2346 s", "0.0051 s")),
        (12, 4_000_123, ("0.0 ms", "4.1 ms")),
        (0, 0, ("0.000 ns", "0.000 ns")),
    ],
)
def test_figures_have_the_digits_that_their_uncertainty_leaves(
    value: int, uncertainty: float, told: tuple[str, str]
) -> None:
    assert with_uncertainty(value, uncertainty, TIMES) == told


def test_ppm_have_the_digits_that_their_uncertainty_leaves() -> None:
    assert with_uncertainty(36.04, 0.0312, PPM) == ("36.040 ppm", "0.032 ppm")
    assert with_uncertainty(0, 1023.4, PPM) == ("0 ppm", "1100 ppm")


def _at_the_server(talk: Talk) -> list[Frame]:
    """The frames as the server sees them, 5 ms away from the client; all come."""
    away_ns = {"client": 5 * MS, "server": -5 * MS}
    seen = [
        frame._replace(at_ns=frame.at_ns + away_ns[truth["from"]])
        for frame, truth in zip(talk.frames, talk.truths, strict=True)
    ]
    return sorted(seen, key=lambda frame: frame.at_ns)


def test_an_rst_in_syn_sent_makes_no_losses(tmp_path: Path) -> None:
    """A bare ACK before the SYN/ACK is answered by RST; the SYN is sent again, and opens."""
    talk = in_syn_sent()
    tables = {}
    for name, frames in (("here", talk.frames), ("there", _at_the_server(talk))):
        file = captures.write(tmp_path / f"{name}.pcapng", captures.pcapng(frames))
        analyse([file], tmp_path / name)
        tables[name] = open_tables(tmp_path / name)
    found = pair(tables["here"], tables["there"])
    rows = found.paths.sort("subflow", "from").select("subflow", "from", "packets", "lost")
    sent = Counter((truth["subflow"], truth["from"]) for truth in talk.truths)
    assert rows.rows() == [(*key, packets, 0) for key, packets in sorted(sent.items())]
    assert found.paths["strays"].sum() == 0
    assert found.packets.height == len(talk.frames)
