"""Payload, checksums and data in the SYN, told from both ends' accounts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.measure.results import PATHS, connection, ended, of_fast_open, of_payload, result

from mptcplab.measure.passing import BothSettings, Passing, Settings, SynData, passing
from mptcplab.measure.passing_words import passing_sentences
from mptcplab.measure.plan import Kind, Step
from mptcplab.measure.plan_words import plan_lines

WIFI, LTE = "10.0.1.1:40000", "10.0.2.1:40001"
ON = BothSettings(Settings(False, 1, True), Settings(True, 3, True))
OFF = BothSettings(Settings(False, 1, True), Settings(False, 1, True))


def bits(probe: int | None, target: int | None) -> BothSettings:
    """Both ends' `net.ipv4.tcp_fastopen`."""
    return BothSettings(Settings(None, probe, True), Settings(None, target, True))


def told(
    payload: dict[str, Any] | None = None,
    *looks: dict[str, Any],
    settings: BothSettings | None = ON,
) -> Passing:
    done = [] if payload is None else [(Step(Kind.PAYLOAD, path=0), payload)]
    done += [(Step(Kind.FAST_OPEN, look, 0), one) for look, one in enumerate(looks)]
    return passing(PATHS[:1], done, settings)[0]


def sentences(one: Passing) -> list[str]:
    return passing_sentences(["wifi"], [one])


@pytest.mark.parametrize(
    ("payload", "unchanged", "checksum", "words"),
    [
        pytest.param(of_payload(0, 0, 10_000, WIFI, checksum=True), True, True, [], id="right"),
        pytest.param(
            of_payload(0, 3, 10_000, WIFI, LTE, checksum=True), True, True, [],
            id="of a subflow over another path",
        ),
        pytest.param(
            of_payload(7, 0, 10_000, WIFI, checksum=True), False, True,
            ["wifi changes payload: 7 of 20000 bytes came as other ones."],
            id="changed with right checksums",
        ),
        pytest.param(
            of_payload(2, 1, 10_000, mptcp=False), False, False,
            [
                "wifi changes payload: 2 of 20000 bytes came as other ones.",
                "Checksums of MPTCP fail on wifi (1 mapping): such connections fall back to TCP, "
                "or are reset.",
            ],
            id="fallen back",
        ),
        pytest.param(
            of_payload(0, 2, 10_000, LTE, checksum=True), False, False,
            [
                "wifi changes payload.",
                "Checksums of MPTCP fail on wifi (2 mappings): such connections fall back to TCP, "
                "or are reset.",
            ],
            id="its first subflow was reset",
        ),
        pytest.param(
            of_payload(0, 0, 10_000, mptcp=False), True, None,
            ["Not tested: checksums of MPTCP: no connection that begins there was MPTCP."],
            id="no MPTCP",
        ),
    ],
)  # fmt: skip
def test_payload_and_checksums_are_those_of_the_path(
    payload: dict[str, Any], unchanged: bool, checksum: bool | None, words: list[str]
) -> None:
    one = told(payload, of_fast_open(), of_fast_open(acked=True))
    assert (one.payload, one.checksum) == (unchanged, checksum)
    assert sentences(one) == words


def test_a_connection_that_the_target_does_not_know_was_changed() -> None:
    payload = result(connection(ended(), None) | {"refused": True})
    one = told(payload, settings=OFF)
    assert one.payload is False
    expected = "wifi changes payload: the target did not know a connection by its first bytes."
    assert sentences(one)[0] == expected
    lost = result(connection(ended(), None) | {"failure": "no answer"})
    assert "Not tested: payload: no answer." in sentences(told(lost, settings=OFF))


def test_without_checksums_none_of_others_counts() -> None:
    one = told(of_payload(0, 5, 10_000, WIFI), settings=OFF)
    assert (one.payload, one.checksum, one.wrong_checksums) == (True, None, 0)
    assert sentences(one) == [
        "Not tested: checksums of MPTCP: net.mptcp.checksum_enabled is 0 at both ends.",
        "Not tested: data in the SYN: the target's net.ipv4.tcp_fastopen has no bit 2.",
    ]


@pytest.mark.parametrize(
    ("look", "fate", "word"),
    [
        (of_fast_open(acked=True), SynData.ACKNOWLEDGED, None),
        (of_fast_open("data_not_acked"), SynData.REFUSED, "with their cookie"),
        (of_fast_open("data_not_acked", data=0), SynData.DROPPED, "takes data out of the SYN"),
        (
            of_fast_open("data_not_acked", names=("mss",)),
            SynData.STRIPPED,
            "takes out the option of TCP Fast Open (TCP and of MPTCP)",
        ),
        (of_fast_open("cookie_unavailable"), SynData.STRIPPED, "takes out the option"),
        (of_fast_open("syn_retransmitted", data=0), SynData.LOST, "loses SYNs"),
    ],
)
def test_the_fate_of_data_in_the_syn_is_told(
    look: dict[str, Any], fate: SynData, word: str | None
) -> None:
    one = told(of_payload(0, 0, 10_000, WIFI, checksum=True), of_fast_open(connections=1), look)
    assert (one.tcp_syn, one.mptcp_syn) == (fate, fate)
    assert [word in sentence for sentence in sentences(one) if word] == ([True] if word else [])
    assert len(sentences(one)) == (0 if word is None else 1)


def test_what_was_lost_by_chance_counts_not_and_a_fallback_is_told() -> None:
    first, lost = of_fast_open(connections=1), of_fast_open("syn_retransmitted")
    one = told(None, first, lost, of_fast_open(acked=True))
    assert (one.tcp_syn, one.mptcp_syn) == (SynData.ACKNOWLEDGED,) * 2
    one = told(None, first, of_fast_open("data_not_acked", data=0, mptcp=False))
    assert one.fell_back
    assert sentences(one)[0].endswith("; MPTCP then falls back to TCP.")
    one = told(None, first, of_fast_open())
    assert one.tcp_syn is None
    assert "Not tested: data in the SYN: this machine's kernel sent none." in sentences(one)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (bits(0, 3), "this machine's net.ipv4.tcp_fastopen has no bit 1"),
        (bits(1, 1), "the target's net.ipv4.tcp_fastopen has no bit 2"),
        (bits(1, None), "the target's net.ipv4.tcp_fastopen is not known"),
    ],
)
def test_a_setting_that_does_not_allow_a_test_is_named(settings: BothSettings, reason: str) -> None:
    one = told(of_payload(0, 0, 10_000, WIFI), settings=settings)
    assert (one.tcp_syn_unknown, one.mptcp_syn_unknown) == (reason, reason)
    assert f"Not tested: data in the SYN: {reason}." in sentences(one)


def test_a_result_of_the_version_before_has_nothing_of_it() -> None:
    one = told(settings=None)
    assert (one.payload, one.checksum, one.tcp_syn, one.mptcp_syn) == (None,) * 4
    assert sentences(one) == []


def test_a_kernel_without_fast_open_of_mptcp_is_named() -> None:
    settings = BothSettings(ON.probe, Settings(True, 3, False))
    look = of_fast_open(acked=True)
    one = told(of_payload(0, 0, 10_000, WIFI, checksum=True), look, look, settings=settings)
    assert one.tcp_syn is SynData.ACKNOWLEDGED
    assert sentences(one) == [
        "Not tested: data in the SYN of MPTCP: the target's kernel has no TCP Fast Open for MPTCP, "
        "which is new in Linux 6.2."
    ]


def test_paths_are_named_where_a_reason_is_not_that_of_all() -> None:
    right = Passing(payload=True, checksum=True)
    unknown = Passing(payload=True, checksum_unknown="it rains")
    told = passing_sentences(["wifi", "lte"], [right, unknown])
    assert told == ["Not tested on lte: checksums of MPTCP: it rains."]


def test_the_plan_names_its_steps_and_what_is_not_tested() -> None:
    planned = [Step(Kind.SURVIVAL, path=0), Step(Kind.PAYLOAD, path=0)]
    lines = plan_lines(planned, OFF)
    assert lines == [
        "survival: options of MPTCP on each path (at most 1)",
        "payload: bytes that both ends compare, and checksums of MPTCP (1)",
        "not tested: checksums of MPTCP: net.mptcp.checksum_enabled is 0 at both ends",
        "not tested: data in the SYN: the target's net.ipv4.tcp_fastopen has no bit 2",
    ]
    assert plan_lines([Step(Kind.FAST_OPEN, 0, 0)], ON) == [
        "fast-open: data in the SYN, of TCP and of MPTCP (at most 1)"
    ]
