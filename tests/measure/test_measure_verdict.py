"""Figures and the verdict as functions of what was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.measure.results import (
    PATHS,
    SENT,
    connection,
    ended,
    of_survival,
    result,
    seen,
    seen_by_target,
)

from mptcplab.measure.figures import Figures, Measured, figures
from mptcplab.measure.plan import Direction, Kind, Step
from mptcplab.measure.render import tables, to_json
from mptcplab.measure.survival import Survival
from mptcplab.measure.transfer import transfer
from mptcplab.measure.verdict import Worth, verdict, worth
from mptcplab.measure.words import shown
from mptcplab.metrics.statistics import Estimate, estimate

SIZE = 1_000_000
WIFI, LTE = "10.0.1.1:40000", "10.0.2.1:40001"


SOURCES = tuple(path.source for path in PATHS)


def carried(step: Step, received: int, duration_us: int, fell_back: bool = False) -> dict[str, Any]:
    """An experiment of one connection."""
    came, sent = ended(received, duration_us), ended(sent=step.size_bytes)
    probe, target = (came, sent) if step.direction is Direction.DOWN else (sent, came)
    if step.kind is Kind.MPTCP:
        probe["seen"] = seen(WIFI, LTE, mptcp=True)
        target["seen"] = seen_by_target(WIFI, LTE, mptcp=not fell_back)
    return result(connection(probe, target))


def measured(
    times_ms: Mapping[str, tuple[int, ...]],
    direction: Direction = Direction.DOWN,
    size: int = SIZE,
    lost: tuple[tuple[str, int], ...] = (),
    fell_back: bool = False,
) -> Measured:
    """Transfers of one size: of each way its times in the repetitions, and those that are lost."""
    every = Measured(PATHS, SENT, SOURCES)
    for number in range(2):
        every.done.append((Step(Kind.SURVIVAL, path=number), of_survival(SENT, WIFI, LTE)))
    for way, times in times_ms.items():
        for repetition, time_ms in enumerate(times):
            path = {"wifi": 0, "lte": 1}.get(way)
            kind = Kind.TCP if path is not None else Kind(way)
            step = Step(kind, repetition, path, direction, size)
            received = size // 100 if (way, repetition) in lost else size
            every.done.append((step, carried(step, received, time_ms * 1_000, fell_back)))
    return every


def test_benefits_are_those_of_the_lab() -> None:
    of = figures(
        measured({"wifi": (400,), "lte": (800,), "mptcp": (320,), "at-once": (300,)})
    ).sizes[Direction.DOWN][0]
    assert of.path_goodputs[0].mean == pytest.approx(20)
    assert of.mptcp_goodput.mean == pytest.approx(25)
    # S is what both carried at once, 26.67 Mbit/s, as that is less than 20 + 10.
    assert of.aggregation.mean == pytest.approx((25 - 20) / (26.6667 - 20), rel=1e-4)
    assert of.delay.mean == pytest.approx((400 - 320) / (400 - 300))
    assert of.delay.ci95 is None


def test_of_connections_at_once_the_first_end_counts() -> None:
    step = Step(Kind.AT_ONCE, 0, None, Direction.UP, SIZE)
    sent = ended(sent=SIZE)
    first = connection(sent, ended(600_000, 500_000, moved=800_000))
    later = connection(sent, ended(400_000, 900_000, moved=SIZE))
    assert transfer(step, result(first, later)).goodput_mbps == pytest.approx(12.8)
    assert transfer(step, result(connection(ended(), None))).goodput_mbps is None


@pytest.mark.parametrize(
    ("direction", "probe", "target"),
    [(Direction.DOWN, (WIFI, LTE), ()), (Direction.UP, (), (WIFI, LTE))],
)
def test_subflows_are_those_of_the_receiving_end(
    direction: Direction, probe: tuple[str, ...], target: tuple[str, ...]
) -> None:
    """The other end's have closed, once all has come."""
    came, sent = ended(SIZE, 1_000_000), ended(sent=SIZE)
    ends = (came, sent) if direction is Direction.DOWN else (sent, came)
    one = connection(*ends)
    one["probe"]["seen"] = seen(*probe, mptcp=True)
    one["target"]["seen"] = seen_by_target(*target)
    found = transfer(Step(Kind.MPTCP, 0, None, direction, SIZE), result(one), PATHS)
    assert (found.is_mptcp, found.subflows, found.path_bytes) == (True, 2, (1, 1))


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ((), Worth.UNKNOWN),
        ((0.5,), Worth.YES),
        ((0.5, 0.6, 0.7), Worth.YES),
        ((0.0, 0.6, 0.9), Worth.UNDECIDED),
        ((0.05, 0.05), Worth.UNDECIDED),
        ((-0.5, -0.6, -0.55), Worth.NO),
        ((-0.9, 0.3, -0.5), Worth.UNDECIDED),
    ],
)
def test_a_benefit_is_judged_by_its_interval(samples: tuple[float, ...], expected: Worth) -> None:
    assert worth(estimate(samples)) is expected


def told(one: Figures) -> str:
    return " ".join(verdict(one))


FASTER = figures(
    measured({"wifi": (400, 410), "lte": (400, 400), "mptcp": (220, 225), "at-once": (210, 215)})
)
SLOWER = figures(
    measured(
        {"wifi": (400, 410), "lte": (4000, 4100), "mptcp": (900, 950), "at-once": (380, 390)},
        Direction.UP,
    )
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            FASTER,
            "MPTCP is worth it for downloads of 1 MB: 36 ± 5.1 Mbit/s, TCP over lte "
            "alone 20 ± 0 (delay benefit 0.947 ± 0.009).",
            id="faster",
        ),
        pytest.param(SLOWER, "MPTCP makes uploads of 1 MB slower: ", id="slower"),
        pytest.param(
            SLOWER, "the uplink of lte has 1.98 Mbit/s: use lte as backup.", id="the slow path"
        ),
        pytest.param(
            replace(SLOWER, survival=(Survival(False, False, ("mp-capable",)), Survival(True))),
            "the uplink of lte has 1.98 Mbit/s",
            id="a path that carried some of MPTCP is not closed to it",
        ),
        pytest.param(
            replace(FASTER, survival=(Survival(True), Survival(False, False, ("mp-capable",)))),
            "MPTCP does not survive on lte: mp-capable does not come through",
            id="stripped",
        ),
        pytest.param(
            replace(FASTER, survival=(Survival(True, True), Survival(True, False))),
            "No subflow over lte joins",
            id="no join",
        ),
        pytest.param(
            replace(FASTER, survival=(Survival(True), Survival(True)), endpoints=0),
            "`ip mptcp endpoint add ADDRESS subflow` for the addresses of wifi and lte",
            id="no endpoints",
        ),
        pytest.param(
            replace(FASTER, partial="It was stopped"),
            "It was stopped. So it ended early",
            id="partial",
        ),
    ],
)
def test_the_verdict_says_it(given: Figures, expected: str) -> None:
    assert expected in told(given)


def test_one_path_has_nothing_to_add_up() -> None:
    alone = Measured(PATHS[:1], SENT)
    alone.done.append((Step(Kind.SURVIVAL, path=0), of_survival(SENT, WIFI, endpoints=0)))
    assert verdict(figures(alone)) == ["Only wifi reaches the target: there is nothing to add up."]


def test_json_has_the_documented_keys() -> None:
    value = to_json(FASTER)
    assert list(value) == ["paths", "mptcp", "benefit", "verdict"]
    path = value["paths"][0]
    assert list(path) == [
        "interface", "mptcp", "payload", "syn_data", "down_mbps", "up_mbps", "rtt_ms",
    ]  # fmt: skip
    survived: dict[str, object] = {
        "capable": True,
        "join": True,
        "join_unknown": None,
        "stripped": [],
        "checksum": None,
        "checksum_unknown": "it ended before",
        "wrong_checksums": 0,
    }
    assert path["mptcp"] == survived
    assert path["down_mbps"]["samples"] == pytest.approx([20, 8 / 0.41])
    assert path["up_mbps"] is None
    assert to_json(replace(FASTER, partial="It was stopped"))["partial"] is True


def test_tables_show_every_path_and_size() -> None:
    paths, passing, down = tables(FASTER)
    assert [row[0] for row in paths.rows] == ["wifi", "lte"]
    assert passing.rows == (("wifi", *["not tested"] * 4), ("lte", *["not tested"] * 4))
    assert [row[0] for row in down.rows] == ["1 MB"]
    assert isinstance(FASTER.idle_rtt[0], Estimate)


WAYS = {"wifi": (400,) * 3, "lte": (800,) * 3, "mptcp": (310, 320, 330), "at-once": (300,) * 3}


def test_a_transfer_by_mptcp_that_fails_is_told_and_blocks_the_verdict() -> None:
    one = figures(measured(WAYS, lost=(("mptcp", 1), ("mptcp", 2))))
    assert one.sizes[Direction.DOWN][0].delay.samples[1] == pytest.approx(-1, abs=0.05)
    assert "Of the downloads of 1 MB by MPTCP 2 of 3 did not finish." in told(one)
    assert "is worth it" not in told(one)
    assert to_json(one)["benefit"]["down"][0]["mptcp_unfinished"] == 2


def test_mptcp_that_fell_back_is_not_counted_as_mptcp() -> None:
    one = figures(measured(WAYS, fell_back=True))
    of = one.sizes[Direction.DOWN][0]
    assert of.mptcp_time.mean is None
    assert "No verdict on downloads of 1 MB: MPTCP fell back to TCP." in told(one)
    assert "3 of 3 fell back to TCP and are not counted" in told(one)
    value = to_json(one)["benefit"]["down"][0]
    assert value["mptcp_protocols"] == ["tcp"] * 3
    assert value["mptcp_subflows"] == [None] * 3
    assert to_json(FASTER)["benefit"]["down"][0]["mptcp_subflows"] == [2, 2]


def test_a_path_that_is_too_slow_to_finish_is_judged_by_what_it_carried() -> None:
    slow = tuple(("lte", repetition) for repetition in range(3))
    one = figures(measured(WAYS | {"at-once": (390,) * 3, "mptcp": (900,) * 3}, lost=slow))
    assert "MPTCP makes downloads of 1 MB slower" in told(one)
    assert "by TCP over lte 3 did not finish within 20 s" in told(one)
    assert to_json(one)["benefit"]["down"][0]["paths_s"][1]["mean"] is None


def test_where_nothing_finished_the_verdict_says_so() -> None:
    every = tuple((way, repetition) for way in ("wifi", "lte", "mptcp") for repetition in range(3))
    assert "No verdict on downloads of 1 MB: none finished" in told(
        figures(measured(WAYS, lost=every))
    )


def test_one_sample_is_no_flat_verdict() -> None:
    one = figures(measured({way: times[:1] for way, times in WAYS.items()}))
    assert "MPTCP was faster for downloads of 1 MB: one sample, no interval: 25.8" in told(one)
    assert "worth it" not in told(one)


def test_the_limit_of_the_target_is_not_judged() -> None:
    one = replace(FASTER, rate_limit_mbps=39)
    assert "No verdict on downloads of 1 MB: the target limits them to 39 Mbit/s." in told(one)
    assert "is worth it" in told(replace(FASTER, rate_limit_mbps=100))


def test_what_small_transfers_are_compared_with_is_the_sum_of_paths() -> None:
    ways = {"wifi": (40,), "lte": (80,), "mptcp": (30,), "at-once": (40,)}
    of = figures(measured(ways, size=100_000)).sizes[Direction.DOWN][0]
    assert of.aggregation.mean == pytest.approx((80 / 3 - 20) / 10)


def test_a_path_that_carried_nothing_of_mptcp_is_not_its_culprit() -> None:
    size = SLOWER.sizes[Direction.UP][0]
    alone = tuple(one and replace(one, path_bytes=(1, 0)) for one in size.mptcp)
    one = replace(SLOWER, sizes={**SLOWER.sizes, Direction.UP: (replace(size, mptcp=alone),)})
    assert "backup" not in told(one)


HOSTILE = [
    ended(SIZE, 1_000, moved=0),
    ended(SIZE, 1_000, moved=SIZE - 1),
    ended(SIZE, 1_000, moved=2 * SIZE),
    ended(2**64 - 1, 0),
    ended(SIZE, 2**64 - 1),
    ended(SIZE, 0),
    ended(1, 0, moved=0),
    ended(),
    None,
]


@pytest.mark.parametrize("account", HOSTILE)
def test_any_account_of_a_target_gives_figures_that_are_numbers(
    account: dict[str, Any] | None,
) -> None:
    every = measured(WAYS, Direction.UP)
    lied = [
        (step, one if step.kind is Kind.SURVIVAL else result(connection(ended(sent=SIZE), account)))
        for step, one in every.done
    ]
    value = to_json(figures(replace(every, done=lied)))
    assert json.loads(json.dumps(value, allow_nan=False)) == value
    assert value["verdict"]


def test_what_the_target_says_to_have_received_was_sent() -> None:
    step = Step(Kind.TCP, 0, 0, Direction.UP, SIZE)
    told = connection(ended(sent=SIZE // 2), ended(SIZE, 1_000))
    assert transfer(step, result(told)).goodput_mbps is None


def test_a_load_that_was_too_short_gives_no_round_trip_time() -> None:
    every = measured({})
    step = Step(Kind.LOADED, 0, 0, Direction.DOWN, SIZE)
    pings = connection(ended(), ended(), rtts=(30_000, 50_000, 40_000))
    for duration_us, expected in ((900_000, None), (1_500_000, 40)):
        done = [*every.done, (step, result(connection(ended(SIZE, duration_us), None), pings))]
        assert figures(replace(every, done=done)).loaded_rtt[0].mean == expected


def test_large_figures_have_no_power_of_ten() -> None:
    assert shown(estimate((1234.4, 1234.4))) == "1234 ± 0"
    assert shown(estimate((0.0123456,))) == "0.0123"
