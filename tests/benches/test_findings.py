"""The findings of scenarios on the simulator, and which scenarios are left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benches.payload import may_carry_more
from tests.engine.launch import REPOSITORY

from mptcplab.recording import Result
from mptcplab.scenario import Scenario, loads, with_overrides
from mptcplab.session import Choice

PATHS = """\
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms}
  b: {between: [client.b, server.b], rate: 6 Mbit/s, delay: 5 ms}
"""
DOWNLOAD = f"""\
name: down
{PATHS}
traffic: [{{bulk: {{from: client, to: server, direction: down, duration: 2 s}}}}]
variants: {{mptcp: {{}}, tcp: {{protocol: tcp, via: a}}}}
repetitions: 2
"""
HOLDS = "expect: [mptcp.goodput > tcp.goodput]"
FAILS = "expect: [mptcp.goodput < tcp.goodput]"
EXPLAINED = "expect: [{finding: mptcp.goodput < tcp.goodput, note: both paths carry}]"


def judged(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benches.findings", folder / "out", *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def written(folder: Path, expect: str) -> str:
    path = folder / "down.yaml"
    path.write_text(f"{DOWNLOAD}{expect}\n")
    return str(path)


@pytest.mark.parametrize(
    ("expect", "status", "last"),
    [(HOLDS, 0, "1 holds"), (FAILS, 1, "1 FAILS"), (EXPLAINED, 0, "1 explained")],
)
def test_a_finding_that_fails_needs_a_note(
    tmp_path: Path, expect: str, status: int, last: str
) -> None:
    ended = judged(tmp_path, written(tmp_path, expect))
    assert ended.returncode == status, ended.stderr
    assert ended.stdout.splitlines()[-1] == last


def test_what_is_there_is_not_run_again_and_another_scenario_is_refused(tmp_path: Path) -> None:
    assert judged(tmp_path, written(tmp_path, HOLDS)).returncode == 0
    manifests = sorted((tmp_path / "out").rglob("manifest.json"))
    made = [path.stat().st_mtime_ns for path in manifests]
    manifests[0].unlink()
    assert judged(tmp_path, written(tmp_path, HOLDS)).returncode == 0
    again = [path.stat().st_mtime_ns for path in manifests]
    assert [one == other for one, other in zip(made, again, strict=True)] == [False] + [True] * 3
    ended = judged(tmp_path, written(tmp_path, FAILS))
    assert ended.returncode == 1
    assert "was made of another down: choose another folder" in ended.stderr


def test_scenarios_that_may_carry_more_are_left_out_by_name(tmp_path: Path) -> None:
    ended = judged(tmp_path, written(tmp_path, FAILS), "--most-payload", "15 MB")
    assert ended.stdout == "left out, 1 of 1 scenarios: down\nno finding was judged\n"
    assert ended.returncode == 1


def scenario(**traffic: object) -> Scenario:
    return with_overrides(loads(DOWNLOAD), {"traffic": [traffic]})


@pytest.mark.parametrize(
    ("made", "most"),
    [
        # Two repetitions of two variants, of 16 Mbit/s for 2 s each.
        (loads(DOWNLOAD), 16_000_000),
        (with_overrides(loads(DOWNLOAD), {"traffic.0.bulk.direction": "both"}), 32_000_000),
        (with_overrides(loads(DOWNLOAD), {"traffic.0.bulk.rate": "4 Mbit/s"}), 4_000_000),
        (scenario(http={"from": "client", "to": "server", "size": "1 MB", "count": 3}), 12_000_000),
        (scenario(ping={"from": "client", "to": "server", "interval": "1 s", "count": 3}), 0),
    ],
)
def test_the_bound_of_the_payload(made: Scenario, most: int) -> None:
    choice = Choice(tuple(made.variants), made.repetitions, 1)
    assert not may_carry_more(made, choice, most)
    assert most == 0 or may_carry_more(made, choice, most - 1)


def test_runs_stay_within_the_bound(tmp_path: Path) -> None:
    assert judged(tmp_path, written(tmp_path, HOLDS)).returncode == 0
    result = Result.open(tmp_path / "out" / "down")
    carried = sum(
        row["bytes"]
        for variant in result
        for recording in result[variant]
        for row in recording.rows("transfers", ["bytes"])
    )
    assert 8_000_000 < carried < 16_000_000
