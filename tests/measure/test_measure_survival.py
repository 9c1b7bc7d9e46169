"""MPTCP on a path, told from both ends' accounts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.measure.results import PATHS, SENT, of_survival

from mptcplab.measure.survival import Observation, Survival, survival

WIFI, LTE = "10.0.1.1:40000", "10.0.2.1:40001"
PLAIN = SENT[:-1]


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
            [Survival(True, None), Survival(False, False, ("mp-capable", "mp-join"))],
            id="one path takes MPTCP out of SYNs",
        ),
        pytest.param(
            of_survival(SENT, WIFI),
            of_survival(SENT, LTE, mptcp=False, endpoints=0),
            [Survival(True, None), Survival(False, False, ("mp-capable", "mp-join"))],
            id="one path takes it out of answers",
        ),
        pytest.param(
            of_survival(SENT, WIFI, endpoints=0),
            of_survival(SENT, LTE, endpoints=0),
            [Survival(True, None), Survival(True, None)],
            id="without endpoints no join is tried",
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
    seen = {number: Observation(*one["connections"]) for number, one in enumerate((wifi, lte))}
    assert survival(PATHS, seen, SENT) == expected


def test_a_subflow_that_the_target_does_not_have_has_not_joined() -> None:
    one = of_survival(SENT, WIFI, LTE)
    del one["connections"][1]["target"]["seen"]["subflows"][1]
    told = survival(PATHS, {0: Observation(*one["connections"])}, SENT)
    assert told[1].join is False
