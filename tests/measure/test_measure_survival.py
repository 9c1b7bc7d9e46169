"""MPTCP on a path, told from both ends' accounts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.measure.results import PATHS, SENT, of_survival, seen_by_target

from mptcplab.measure.figures import Measured
from mptcplab.measure.plan import Kind, Path, Step
from mptcplab.measure.session import is_second_look_wanted
from mptcplab.measure.survival import TOO_SHORT, Observation, Survival, no_mptcp, survival

WIFI, LTE, LAN = "10.0.1.1:40000", "10.0.2.1:40001", "10.0.3.1:40002"
PLAIN = SENT[:-1]
SOURCES = tuple(path.source for path in PATHS)
NO_OTHER = "no connection that began on another path was MPTCP"
THREE = (*PATHS, Path("lan", "10.0.3.1", None, 4))


def observed(one: dict[str, Any], seconds: float = 4) -> Observation:
    witness, mptcp = one["connections"]
    return Observation(witness, mptcp, seconds)


def told(
    *trials: dict[str, Any],
    paths: tuple[Path, ...] = PATHS,
    endpoints: tuple[str, ...] | None = SOURCES,
    seconds: float = 4,
) -> list[Survival]:
    seen = {number: [observed(one, seconds)] for number, one in enumerate(trials)}
    return survival(paths, seen, SENT, endpoints)


@pytest.mark.parametrize(
    ("wifi", "lte", "expected"),
    [
        pytest.param(
            of_survival(SENT, WIFI, LTE),
            of_survival(SENT, WIFI, LTE),
            [Survival(True, True), Survival(True, True)],
            id="all comes through",
        ),
        pytest.param(
            of_survival(SENT, WIFI),
            of_survival(PLAIN, LTE, mptcp=False, endpoints=0),
            [
                Survival(True, None, (), NO_OTHER),
                Survival(False, False, ("mp-capable", "mp-join")),
            ],
            id="one path takes MPTCP out of SYNs",
        ),
        pytest.param(
            of_survival(SENT, WIFI),
            of_survival(SENT, LTE, mptcp=False, endpoints=0),
            [
                Survival(True, None, (), NO_OTHER),
                Survival(False, False, ("mp-capable", "mp-join")),
            ],
            id="one path takes it out of answers",
        ),
        pytest.param(
            of_survival(("mss", "mp-capable"), WIFI, LTE),
            of_survival(None, LTE, WIFI),
            [
                Survival(True, True, ("sack-permitted", "timestamps", "window-scale")),
                Survival(True, True),
            ],
            id="other options are told, and those that were not seen are not",
        ),
    ],
)
def test_survival(wifi: dict[str, Any], lte: dict[str, Any], expected: list[Survival]) -> None:
    assert told(wifi, lte) == expected


def test_a_subflow_that_the_target_does_not_have_has_not_joined() -> None:
    one = of_survival(SENT, WIFI, LTE)
    one["connections"][1]["target"]["seen"] = seen_by_target(WIFI)
    assert told(one)[1].join is False
    # Behind a NAT it is not known which one is missing.
    one["connections"][1]["target"]["seen"] = seen_by_target("192.0.2.1:1")
    assert told(one)[1].join is None
    one["connections"][1]["target"]["seen"] = seen_by_target("192.0.2.1:1", "192.0.2.1:2")
    assert told(one)[1].join is True


@pytest.mark.parametrize(
    ("endpoints", "allowed", "seconds", "expected"),
    [
        (SOURCES, 2, 4, None),
        (None, 2, 4, "whether 10.0.2.1 is an endpoint of the path manager is not known"),
        (SOURCES[:1], 2, 4, "10.0.2.1 is no endpoint of the path manager"),
        (SOURCES, 0, 4, "the target allows no more than 0 further subflows"),
        (SOURCES, None, 4, "the target does not tell how many further subflows it allows"),
        (SOURCES, 2, 1, TOO_SHORT),
    ],
)
def test_a_path_is_not_blamed_for_what_it_may_not_have_done(
    endpoints: tuple[str, ...] | None, allowed: int | None, seconds: float, expected: str | None
) -> None:
    one = of_survival(SENT, WIFI)
    one["connections"][1]["target"]["seen"] = seen_by_target(WIFI, allowed=allowed)
    lte = told(one, endpoints=endpoints, seconds=seconds)[1]
    assert lte.unknown == expected
    assert lte.join is (False if expected is None else None)
    assert ("mp-join" in lte.stripped) is (expected is None)


def test_two_short_trials_that_agree_are_enough() -> None:
    wifi, lte = of_survival(SENT, WIFI, LTE), of_survival(SENT, LTE, WIFI)
    every = (*SOURCES, "10.0.3.1")
    assert told(wifi, lte, paths=THREE, endpoints=every, seconds=1)[2].join is False
    assert told(wifi, paths=THREE, endpoints=every, seconds=1)[2].unknown == TOO_SHORT


def test_a_limit_that_is_reached_tells_nothing_of_the_paths_beyond() -> None:
    one = of_survival(SENT, WIFI, LTE)
    one["connections"][1]["target"]["seen"] = seen_by_target(WIFI, LTE, allowed=1)
    lan = told(one, paths=THREE, endpoints=(*SOURCES, "10.0.3.1"))[2]
    assert lan.unknown == "the target allows no more than 1 further subflows"


def test_what_the_target_calls_an_address_may_be_anything() -> None:
    one = of_survival(SENT, WIFI, LTE)
    one["connections"][1]["target"]["seen"] = seen_by_target("x", "[::1")
    assert told(one)[0].capable is True


def test_no_mptcp_at_all_is_told_with_its_reason() -> None:
    plain = observed(of_survival(PLAIN, WIFI, mptcp=False))
    assert no_mptcp({}) is None
    assert no_mptcp({0: [plain], 1: [observed(of_survival(SENT, LTE))]}) is None
    assert no_mptcp({0: [plain]}) == "No connection was MPTCP at both ends"
    answered = observed(of_survival(SENT, WIFI, mptcp=False))
    assert "the target's kernel may have none" in str(no_mptcp({0: [answered]}))
    failed = of_survival(SENT)
    failed["connections"][1] |= {"target": None, "failure": "this kernel has no MPTCP"}
    expected = "No connection by MPTCP came to be: this kernel has no MPTCP"
    assert no_mptcp({0: [observed(failed)]}) == expected


def test_a_second_look_is_for_a_path_of_which_one_short_trial_tells_too_little() -> None:
    first, second = Step(Kind.SURVIVAL, 0, 0), Step(Kind.SURVIVAL, 1, 0)
    assert first.interval_ms * 15 < 3_000 < second.interval_ms * 15
    lost = Measured(PATHS, SENT, SOURCES, done=[(first, of_survival(SENT, WIFI))])
    assert is_second_look_wanted(lost, 0)
    assert not is_second_look_wanted(lost, 1)
    lost.done.append((second, of_survival(SENT, WIFI)))
    assert not is_second_look_wanted(lost, 0)
    assert lost.survival[1].join is False
    joined = Measured(PATHS, SENT, SOURCES, done=[(first, of_survival(SENT, WIFI, LTE))])
    assert not is_second_look_wanted(joined, 0)
