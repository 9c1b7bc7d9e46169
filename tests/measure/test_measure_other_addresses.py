"""MPTCP on other paths than those that are measured does not count."""

from __future__ import annotations

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
from mptcplab.measure.other_addresses import other_addresses
from mptcplab.measure.plan import Direction, Kind, Step
from mptcplab.measure.render import to_json
from mptcplab.measure.transfer import transfer
from mptcplab.measure.verdict import verdict

SIZE = 1_000_000
WIFI, LTE, OTHER = "10.0.1.1:40000", "10.0.2.1:40001", "10.0.3.1:40002"
NAT = ("192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1")
KNOWN = frozenset({"10.0.3.1"})


def by_mptcp(
    probe: tuple[str, ...], target: tuple[str, ...], sources: tuple[str, ...] = ()
) -> dict[str, Any]:
    """A connection whose ends have these subflows at last; between there were others, too."""
    one = connection(ended(SIZE, 500_000), ended(sent=SIZE))
    one["probe"]["seen"] = seen(*probe, mptcp=True)
    one["target"]["seen"] = seen_by_target(*target)
    one["sources"] = list(sources)
    return one


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (by_mptcp((WIFI, LTE), (WIFI, LTE)), ()),
        (by_mptcp((WIFI, LTE, OTHER), (WIFI, LTE, OTHER)), ("10.0.3.1",)),
        pytest.param(
            by_mptcp((WIFI,), (), ("10.0.1.1", "10.0.3.1")), ("10.0.3.1",), id="closed since"
        ),
        pytest.param(by_mptcp((WIFI,), (WIFI, OTHER)), ("10.0.3.1",), id="seen by the target"),
        pytest.param(by_mptcp((WIFI, LTE), NAT[:2]), (), id="translated"),
        pytest.param(by_mptcp((WIFI, LTE), NAT), ("10.0.3.1",), id="translated, and one more"),
        pytest.param(
            by_mptcp((), NAT[:2], ("10.0.1.1", "10.0.2.1")), (), id="translated, and closed"
        ),
    ],
)
def test_a_connection_is_on_the_paths_alone_or_not(
    one: dict[str, Any], expected: tuple[str, ...]
) -> None:
    assert other_addresses(one, PATHS, KNOWN) == frozenset(expected)
    # No connection of the experiment had another one, though a subflow is not known.
    assert other_addresses(one, PATHS, frozenset()) == frozenset()


def experiment(*mptcp: dict[str, Any]) -> Figures:
    """Repetitions of a download, by TCP in 1 s and 2 s, and by MPTCP as it is given."""
    every = Measured(PATHS, SENT)
    shown = of_survival(SENT, WIFI, LTE, OTHER)
    every.done += [(Step(Kind.SURVIVAL, path=path), shown) for path in range(2)]
    for repetition, one in enumerate(mptcp):
        for path, seconds in enumerate((1, 2)):
            step = Step(Kind.TCP, repetition, path, Direction.DOWN, SIZE)
            alone = connection(ended(SIZE, seconds * 1_000_000), ended(sent=SIZE))
            every.done.append((step, result(alone)))
        step = Step(Kind.MPTCP, repetition, None, Direction.DOWN, SIZE, begin=repetition % 2)
        every.done.append((step, result(one)))
    return figures(every)


def test_a_transfer_on_other_paths_has_no_figures() -> None:
    clean, elsewhere = by_mptcp((WIFI, LTE), (WIFI, LTE)), by_mptcp((WIFI, OTHER), (WIFI, OTHER))
    found = transfer(
        Step(Kind.MPTCP, 0, None, Direction.DOWN, SIZE), result(elsewhere), PATHS, KNOWN
    )
    assert (found.is_mptcp, found.is_counted, found.other_addresses) == (True, False, KNOWN)
    every = experiment(clean, elsewhere, clean)
    (size,) = every.sizes[Direction.DOWN]
    assert (size.tried, size.on_other_paths, size.unfinished, size.fell_back) == (3, 1, 0, 0)
    assert size.mptcp_time.samples == (0.5, None, 0.5)
    assert size.delay.samples[1] is None
    # Two subflows of one byte each, in two repetitions.
    assert size.path_bytes == (2, 2)
    told = to_json(every)
    assert told["mptcp"]["other_addresses"] == ["10.0.3.1"]
    (down,) = told["benefit"]["down"]
    assert down["mptcp_on_other_paths"] == 1
    assert down["mptcp_first_paths"] == ["wifi", "lte", "wifi"]
    text = " ".join(verdict(every))
    assert "MPTCP had subflows from 10.0.3.1, which is not to be measured" in text
    assert "Of the downloads of 1 MB by MPTCP 1 of 3 were on other paths, too" in text


def test_no_verdict_rests_on_transfers_that_were_all_on_other_paths() -> None:
    elsewhere = by_mptcp((WIFI, OTHER), (WIFI, OTHER))
    every = experiment(elsewhere, elsewhere)
    (size,) = every.sizes[Direction.DOWN]
    assert size.delay.mean is None
    assert size.mptcp_goodput.mean is None
    assert "No verdict on downloads of 1 MB: MPTCP was on other paths, too." in verdict(every)
