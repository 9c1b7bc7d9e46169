"""Runs from Python: folders, errors that speak of the arguments, Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.engine.launch import wait_for

import mptcplab as lab
from mptcplab.recording.result import Change

SHORT: dict[str, Any] = {"engine": "sim", "variants": "tcp-eth", "repeat": 1, "duration": "100 ms"}


def test_all_variants_and_repetitions_become_one_result(tmp_path: Path) -> None:
    out = tmp_path / "a1"
    result = lab.run("lisbon/A1", engine="sim", repeat=2, duration="200 ms", out=out)
    assert list(result) == list(lab.load("lisbon/A1").variants)
    assert [one.manifest.repetition for one in result["mptcp"]] == [1, 2]
    assert result["mptcp"][0].transfers.equals(result["mptcp"][0].frame("transfers"))
    assert result.description.command == (
        "mptcplab.run('lisbon/A1', engine='sim', repeat=2, duration='200 ms')",
    )
    assert lab.open(str(out)).description == result.description
    with pytest.raises(KeyError, match="the variants are"):
        result["mtcp"]


def test_a_result_without_a_folder_gets_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = (lab.run("lisbon/A1", **SHORT) for _ in range(2))
    assert first.folder.parent == second.folder.parent == Path("out")
    assert first.folder != second.folder


def test_a_folder_is_replaced_on_request_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    lab.run("lisbon/A1", out=out, **SHORT)
    with pytest.raises(lab.RecordingError, match=r"is there already: .* or replace=True"):
        lab.run("lisbon/A1", out=out, **SHORT)
    again = lab.run("lisbon/A1", out=str(out), replace=True, seed=2, **SHORT)
    assert again.description.seed == 2
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "letter").write_text("dear")
    with pytest.raises(lab.RecordingError, match=r"holds no result\.json"):
        lab.run("lisbon/A1", out=foreign, replace=True, **SHORT)
    assert (foreign / "letter").exists()


def test_values_are_set_and_told_as_changes(tmp_path: Path) -> None:
    scenario = lab.load("lisbon/A1")
    values = {"links.eth.delay": "20 ms"}
    result = lab.run(scenario, set=values, vary={"start": "5 ms"}, out=tmp_path / "out", **SHORT)
    assert Change(path="links.eth.delay", own="250 µs", here="20 ms") in (
        result.description.scenario.changes
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"set": {"links.wifi.dely": "5 ms"}}, r'^set\["links.wifi.dely"\]: '),
        ({"set": {"links.wifi.delay": "5 mss"}}, r'^set\["links.wifi.delay"\]: .*unknown unit'),
        ({"set": {"links.wi.delay": "5 ms"}}, r'^set\["links.wi.delay"\]: there is no link'),
        ({"duration": "5 m s"}, r"^duration: "),
        ({"duration": 5}, r'^duration: a time needs a unit: did you mean "5 s"'),
        ({"vary": {"start": "5"}}, r'^vary\["start"\]: '),
        ({"variants": ["mtcp"]}, r"^variants: lisbon/A1 has no variant 'mtcp'"),
    ],
)
def test_errors_speak_of_the_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(lab.ScenarioError, match=message) as raised:
        lab.run("lisbon/A1", **{"engine": "sim", **arguments})
    assert "--" not in str(raised.value)


def test_an_engine_that_cannot_run_it_is_told_as_an_argument() -> None:
    with pytest.raises(lab.ScenarioError) as raised:
        lab.run("lisbon/A1", engine="sim", set={"hosts.client.congestion_control": "bbr"})
    assert "--" not in str(raised.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"engine": "simulator"},
        {"engine": "both"},
        {"repeat": 0},
        {"repeat": 1001},
        {"seed": -1},
        {"workers": 0},
        {"variants": []},
    ],
)
def test_what_is_out_of_range_is_refused(arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(ValueError, match=f"^{name}"):
        lab.run("lisbon/A1", **arguments)


def test_a_program_of_its_own_handler_keeps_it(tmp_path: Path) -> None:
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        lab.run("lisbon/A1", out=tmp_path / "out", **SHORT)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [1]


INTERRUPTED = """
import mptcplab as lab
try:
    lab.run("lisbon/A1", engine="sim", variants="mptcp", duration="10000 s", out="out", workers=1)
except KeyboardInterrupt as interrupted:
    print(interrupted)
    print(interrupted.result["mptcp"][0].manifest.status)
    print(interrupted.result["mptcp"][0].transfers["bytes"][0] > 0)
"""


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    wait_for("the run", (tmp_path / "out/mptcp/1").exists)
    time.sleep(1)
    # As `timeout` does: the process, and its group.
    os.kill(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert printed.splitlines() == [
        "what was measured until then is kept: mptcplab.open('out')",
        "interrupted",
        "True",
    ]
