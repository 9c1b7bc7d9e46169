"""Tests in Ryu's notation, on our switch and on Open vSwitch: those of this folder, and Ryu's."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

# First: what reads the tests needs it.
pytest.importorskip("os_ken")

from tests.openflow import cases, open_vswitch
from tests.openflow.cases import Case, Egress, PacketIn, Rate, TableMiss, Throughput
from tests.openflow.ours import Ours
from tests.openflow.play import Result, Verdict, is_conforming, play
from tests.openflow.switch import Switch

OWN = Path(__file__).with_name("own")
RYU = os.environ.get("MPTCPLAB_RYU_TESTS")
"""The folder `ryu/tests/switch/of13` of the repository faucetsdn/ryu."""
UNLIKE = {
    "a second tag, with the priority of the first",
    "a higher drop precedence above the rate",
    "a higher drop precedence above the rate, IPv6",
}
"""Tests that Open vSwitch need not pass: it gives a new tag priority 0, where section 5.12.1 copies
that of the outer one, and its datapath in user space has no meters that remark."""

needs_ryu = pytest.mark.skipif(RYU is None, reason="MPTCPLAB_RYU_TESTS names no folder")


@pytest.fixture(scope="module")
def ours() -> Iterator[Switch]:
    with Ours() as switch:
        yield switch


@pytest.fixture(scope="module")
def theirs() -> Iterator[Switch]:
    if (reason := open_vswitch.missing()) is not None:
        pytest.skip(reason)
    with open_vswitch.OpenVSwitch() as switch:
        yield switch


def _named(case: Case, verdict: Verdict) -> str:
    return f"{case.file}: {case.description}: {verdict.result} {verdict.reason}"


def _not_conforming(switch: Switch, folder: Path) -> list[str]:
    played = ((case, play(switch, case)) for case in cases.read(folder))
    return [_named(*one) for one in played if not is_conforming(*one)]


def test_our_switch_passes_all_but_those_that_it_refuses_by_name(ours: Switch) -> None:
    assert _not_conforming(ours, OWN) == []


def test_mpls_is_refused(ours: Switch) -> None:
    left_out = [case for case in cases.read(OWN) if case.is_left_out]
    assert [play(ours, case).result for case in left_out] == [Result.REFUSED] * 2


def test_open_vswitch_passes_all_but_those_known(theirs: Switch) -> None:
    played = ((case, play(theirs, case)) for case in cases.read(OWN))
    failed = {
        case.description: verdict for case, verdict in played if verdict.result != Result.PASSED
    }
    assert {name: one for name, one in failed.items() if name not in UNLIKE} == {}


def _spoiled(case: Case) -> Case:
    """The test with something else expected."""
    step = case.steps[0]
    match step.expected:
        case Egress(frame):
            step = replace(step, expected=Egress(frame[:-1] + b"!"))
        case PacketIn(frame):
            step = replace(step, expected=Egress(frame))
        case TableMiss():
            step = replace(step, expected=Egress(step.ingress.frames[0]))
        case Throughput(rates):
            more = tuple(Rate(one.match, one.unit, 1.2 * one.rate) for one in rates)
            step = replace(step, expected=Throughput(more))
    return replace(case, steps=(step,))


@pytest.mark.parametrize("name", ["ours", "theirs"])
def test_another_outcome_than_expected_is_a_failure(
    name: str, request: pytest.FixtureRequest
) -> None:
    switch: Switch = request.getfixturevalue(name)
    own = [case for case in cases.read(OWN) if not case.is_left_out]
    chosen = [
        next(case for case in own if isinstance(case.steps[0].expected, kind))
        for kind in (Egress, PacketIn, TableMiss, Throughput)
    ]
    assert [play(switch, case).result for case in chosen] == [Result.PASSED] * 4
    assert [play(switch, _spoiled(case)).result for case in chosen] == [Result.FAILED] * 4


def test_a_miss_in_a_table_that_the_packet_does_not_see_is_a_failure(ours: Switch) -> None:
    case = next(case for case in cases.read(OWN) if isinstance(case.steps[0].expected, TableMiss))
    step = replace(case.steps[0], expected=TableMiss((0, 7)))
    verdict = play(ours, replace(case, steps=(step,)))
    assert verdict.result == Result.FAILED
    assert verdict.reason.startswith("table 7: ")


@needs_ryu
def test_our_switch_passes_ryus_tests_but_those_that_it_refuses_by_name(ours: Switch) -> None:
    assert _not_conforming(ours, Path(str(RYU))) == []


@needs_ryu
def test_our_switch_passes_what_open_vswitch_passes(ours: Switch, theirs: Switch) -> None:
    passed = [
        case for case in cases.read(Path(str(RYU))) if play(theirs, case).result == Result.PASSED
    ]
    assert len(passed) > 500, "Open vSwitch passes more"
    verdicts = ((case, play(ours, case)) for case in passed if not case.is_left_out)
    behind = [_named(*one) for one in verdicts if one[1].result != Result.PASSED]
    assert behind == []
