"""Figures and the verdict as functions of what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.measure.results import PATHS, SENT, connection, ended, of_survival, result

from mptcplab.measure.figures import Figures, Measured, figures, transfer
from mptcplab.measure.plan import Direction, Kind, Step
from mptcplab.measure.render import tables, to_json
from mptcplab.measure.survival import Survival
from mptcplab.measure.verdict import Worth, verdict, worth
from mptcplab.metrics.statistics import Estimate, estimate

SIZE = 1_000_000
WIFI, LTE = "10.0.1.1:40000", "10.0.2.1:40001"


def measured(
    times_ms: dict[str, tuple[int, ...]], direction: Direction = Direction.DOWN
) -> Measured:
    """Transfers of one size: of each way its times in the repetitions."""
    every = Measured(PATHS, SENT)
    for number in range(2):
        every.done.append((Step(Kind.SURVIVAL, path=number), of_survival(SENT, WIFI, LTE)))
    for way, times in times_ms.items():
        for repetition, time_ms in enumerate(times):
            path = {"wifi": 0, "lte": 1}.get(way)
            kind = Kind.TCP if path is not None else Kind(way)
            step = Step(kind, repetition, path, direction, SIZE)
            came = ended(SIZE, time_ms * 1_000)
            ends = (came, ended()) if direction is Direction.DOWN else (ended(), came)
            every.done.append((step, result(connection(*ends))))
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
    first = connection(ended(), ended(600_000, 500_000, moved=800_000))
    later = connection(ended(), ended(400_000, 900_000, moved=SIZE))
    assert transfer(step, result(first, later)).goodput_mbps == pytest.approx(12.8)
    assert transfer(step, result(connection(ended(), None))).goodput_mbps is None


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
            "MPTCP is worth it for downloads of 1 MB and more: 36 ± 5.1 Mbit/s, TCP over lte "
            "alone 20 ± 0 (delay benefit 0.947 ± 0.009).",
            id="faster",
        ),
        pytest.param(SLOWER, "MPTCP makes uploads of 1 MB slower: ", id="slower"),
        pytest.param(
            SLOWER, "the uplink of lte has 1.98 Mbit/s: use lte as backup.", id="the slow path"
        ),
        pytest.param(
            replace(SLOWER, survival=(Survival(False, False, ("mp-capable",)), Survival(True))),
            "; MPTCP cannot use wifi.",
            id="the best path is closed to MPTCP",
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
            replace(FASTER, is_partial=True), "It was stopped before its end", id="partial"
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
    assert list(path) == ["interface", "mptcp", "down_mbps", "up_mbps", "rtt_ms"]
    assert path["mptcp"] == {"capable": True, "join": True, "stripped": []}
    assert path["down_mbps"]["samples"] == pytest.approx([20, 8 / 0.41])
    assert path["up_mbps"] is None
    assert to_json(replace(FASTER, is_partial=True))["partial"] is True


def test_tables_show_every_path_and_size() -> None:
    paths, down, up = tables(FASTER)
    assert [row[0] for row in paths.rows] == ["wifi", "lte"]
    assert [row[0] for row in down.rows] == ["1 MB"]
    assert up.rows == ()
    assert isinstance(FASTER.idle_rtt[0], Estimate)
