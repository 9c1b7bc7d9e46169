"""Sessions that open where something failed: which run, which moment, and what is refused."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.engine.launch import COMMAND

import mptcplab
from mptcplab.debugger import DebugError, debug_failure
from mptcplab.metrics.moments import moment
from mptcplab.metrics.plan_view import PlanView
from mptcplab.recording import Result
from mptcplab.scenario import loads

TEXT = """\
hosts:
  client: {interfaces: {wifi: {}, lte: {}}}
  server: {interfaces: {wifi: {}, lte: {}}}
links:
  wifi: {between: [client.wifi, server.wifi], rate: 20 Mbit/s, delay: 10 ms, loss: 1 %}
  lte: {between: [client.lte, server.lte], rate: 10 Mbit/s, delay: 30 ms}
traffic: [{bulk: {from: client, to: server, duration: 5 s}}]
events: [{at: 1.5 s, carrier: wifi, up: false}, {at: 2.5 s, carrier: wifi, up: true}]
variants: {tcp: {protocol: tcp, via: lte}, mptcp: {protocol: mptcp}}
expect:
  - mptcp.joins >= 1
  - mptcp.goodput > 3 * tcp.goodput
  - mptcp.handover_gap_s < 1 ms and mptcp.joins >= 1
  - tcp.goodput > 100
  - mptcp.joins >= 1 and mptcp.longest_silence_s < 1 us
  - mptcp.recovery_s.wifi < 1 us
  - mptcp.establishment_s.join1 < 1 us
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    out = tmp_path_factory.mktemp("failure") / "out"
    return mptcplab.run(loads(TEXT), engine="sim", repeat=3, out=out, progress=False)


def repetitions(result: Result) -> list[float]:
    found = [mptcplab.metrics.measure(one).metrics["goodput"] for one in result["mptcp"]]
    return [value for value in found if value is not None]


def test_a_finding_opens_the_repetition_that_is_furthest_from_it(result: Result) -> None:
    session, failed = debug_failure(result, at_finding=2)
    goodputs = repetitions(result)
    by_tcp = [mptcplab.metrics.measure(one).metrics["goodput"] for one in result["tcp"]]
    apart = [3 * other - own for own, other in zip(goodputs, by_tcp, strict=True)]  # type: ignore[operator]
    worst = apart.index(max(apart))
    assert failed.recording.manifest.repetition == worst + 1
    assert session.has_ended
    # The run is that of the recording, to the byte.
    (transfer,) = failed.recording.rows("transfers", ("bytes",))
    assert session.value("connections[0].server.bytes_received") in (None, transfer["bytes"])
    assert failed.words.startswith(
        "finding 2 does not hold (mptcp.goodput > 3 * tcp.goodput): mptcp, repetition "
    )
    assert failed.words.endswith("at its end, as the finding names no moment")


@pytest.mark.parametrize(
    ("number", "at_ns", "words"),
    [
        (3, None, "at the event "),
        (5, None, "where the longest silence of bulk begins"),
        (6, 2_500_000_000, "where wifi is back"),
        (7, None, "where the last of these subflows has joined"),
    ],
)
def test_a_finding_opens_at_the_moment_that_it_names(
    result: Result, number: int, at_ns: int | None, words: str
) -> None:
    session, failed = debug_failure(result, at_finding=number)
    assert failed.at_ns == session.now_ns
    assert at_ns in (None, session.now_ns)
    assert words in failed.words
    assert "\n" not in failed.words
    if number == 3:
        assert session.now_ns in (1_500_000_000, 2_500_000_000)
    if number == 5:
        (row,) = failed.recording.rows("transfers", ("longest_silence_at_ns",))
        assert session.now_ns == row["longest_silence_at_ns"]
    if number == 7:
        assert len(session.connections[0].subflows) == 2


def test_a_finding_of_tcp_alone_opens_that_variant(result: Result) -> None:
    session, failed = debug_failure(result.folder, at_finding=4)
    assert failed.recording.manifest.variant == "tcp"
    assert session.has_ended


def test_without_a_number_the_first_that_fails_is_opened(result: Result) -> None:
    _, failed = debug_failure(result)
    assert failed.words.startswith("finding 2 does not hold")


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (1, "finding 1 holds; those that do not hold: 2, 3, 4, 5, 6, 7"),
        (8, "there is no finding 8: it has findings 1 to 7"),
    ],
)
def test_a_finding_that_does_not_fail_is_refused(result: Result, number: int, why: str) -> None:
    with pytest.raises(DebugError, match=why):
        debug_failure(result, at_finding=number)


def test_a_transfer_that_fails_is_opened_where_it_did(tmp_path: Path) -> None:
    text = TEXT.partition("events:")[0].replace("loss: 1 %", "")
    # Both links go down, and stay so: the connection times out.
    text += "events: [{at: 1 s, link: wifi, up: false}, {at: 1 s, link: lte, up: false}]\n"
    text = text.replace("duration: 5 s", "size: 20 MB")
    made = mptcplab.run(loads(text), engine="sim", repeat=1, out=tmp_path / "o", progress=False)
    (recording,) = made["mptcp"]
    (row,) = recording.rows("transfers", ("error", "end_ns"))
    assert row["error"]
    session, failed = debug_failure(made)
    assert row["error"] in failed.words
    assert row["end_ns"] in (None, session.now_ns)
    found = moment("completed", recording, PlanView(recording))
    assert row["end_ns"] == (None if found is None else found[0])


def test_nothing_that_failed_is_told(tmp_path: Path) -> None:
    text = TEXT.partition("expect:")[0]
    made = mptcplab.run(loads(text), engine="sim", repeat=1, out=tmp_path / "o", progress=False)
    with pytest.raises(DebugError, match="no run of it failed, and no finding does not hold"):
        debug_failure(made)
    with pytest.raises(DebugError, match="there is no finding 1: it has no findings"):
        debug_failure(made, at_finding=1)


def test_the_command_says_which_and_takes_lines(result: Result, tmp_path: Path) -> None:
    asked = [str(COMMAND), "debug", str(result.folder), "--at-finding", "6"]
    lines = "drop on wifi\nrun until +10 ms\nsave again.debug\nshow now_ns\n"
    told = subprocess.run(
        asked, cwd=tmp_path, input=lines, capture_output=True, text=True, check=True
    )
    first, *_, last = told.stdout.splitlines()
    assert first.startswith("finding 6 does not hold (mptcp.recovery_s.wifi < 1 us): mptcp, ")
    assert last == "now_ns = 2510000000"
    saved = (tmp_path / "again.debug").read_text()
    assert saved.startswith(f"# mptcplab debug {result.folder} --at-finding 6 --script")
    (tmp_path / "again.debug").write_text(saved + "check now_ns == 2510 ms\n")
    asked += ["--script", "again.debug", "--json"]
    told = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True)
    opened = json.loads(told.stdout.splitlines()[0])
    assert opened == {"opened": first, "now_ns": 2_500_000_000}


def test_what_does_not_go_together_is_told_in_a_line(result: Result, tmp_path: Path) -> None:
    for words, why in (
        ([str(result.folder), "--seed", "2"], "a result says its variants, seeds and settings"),
        (["lisbon/A1", "--at-finding", "1"], "--at-finding is of a result: give its folder"),
        ([str(result.folder), "--at-finding", "1"], "finding 1 holds"),
        ([str(tmp_path)], "not a result: it holds no result.json"),
    ):
        asked = [str(COMMAND), "debug", *words]
        told = subprocess.run(asked, input="", capture_output=True, text=True, check=False)
        assert told.returncode != 0
        assert why in " ".join(told.stderr.replace("│", " ").split()), told.stderr
        assert "Traceback" not in told.stderr


def test_a_result_of_the_kernel_cannot_be_repeated(result: Result, tmp_path: Path) -> None:
    text = (result.folder / "result.json").read_text()
    told = json.loads(text)
    told["engine"] = "kernel"
    (tmp_path / "result.json").write_text(json.dumps(told))
    with pytest.raises(DebugError, match="made by the engine kernel, whose runs cannot be"):
        debug_failure(tmp_path)
