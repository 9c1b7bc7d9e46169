"""A metric that does not exist is refused before anything runs."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.cli.errors import UserError

SCENARIO = """\
hosts:
  client: {interfaces: {wifi: , eth: }}
  server: {interfaces: {wifi: , eth: }}
routers: {near: , far: }
links:
  air: {between: [client.wifi, near.a], rate: 10 Mbit/s}
  core: {between: [near.b, far.b], rate: 10 Mbit/s}
  hall: {between: [far.a, server.wifi], rate: 10 Mbit/s}
  wire: {between: [client.eth, server.eth], rate: 10 Mbit/s}
traffic:
  - bulk: {from: client, to: server, name: upload, way: up, duration: 2 s}
  - ping: {from: client, to: server, count: 3}
variants:
  mptcp: {protocol: mptcp}
  renamed: {protocol: tcp, set: {traffic.0.bulk.name: other}}
"""
LINE = SCENARIO.count("\n") + 2

NO_METRIC = [
    ("goodputt", 'there is no metric "goodputt": did you mean "goodput"?'),
    ("goodput.nosuch", None),
    ("goodput.uplaod", 'goodput has no part "uplaod": did you mean "upload"?'),
    ("goodput.air", None),
    ("goodput.server", None),
    ("share.up", None),
    ("recovery_s.far", 'recovery_s has no part "far": did you mean "air"?'),
    ("recovery_s.server", None),
    ("completion_s.p95", 'completion_s has no part "p95": did you mean "p99"?'),
    ("latency_s.ping.p95", None),
    ("jain.wifi", "jain is one figure, without parts: write jain"),
    ("jain.streams", None),
    ("stream_share.1", None),
    ("establishment_s.join9", 'establishment_s has no part "join9": did you mean "join8"?'),
]
METRICS = [
    *("goodput", "goodput.up", "goodput.wifi", "goodput.upload", "goodput.client"),
    *(
        "goodput.client.eth",
        "share.eth",
        "share.client.eth",
        "carried.wifi",
        "recovery_s",
        "recovery_s.wifi",
    ),
    *("recovery_s.air", "recovery_s.wire", "completion_s.p99", "latency_s.p50"),
    *("recovery_s.core", "recovery_s.hall", "establishment_s", "establishment_s.join2"),
    "header_overhead",
    *("latency_s.ping", "latency_s.ping.p99", "jain", "multipath"),
]


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("x.yaml")


@pytest.mark.parametrize(("metric", "message"), NO_METRIC)
def test_check_names_a_finding_about_no_metric(
    scenario: Path, metric: str, message: str | None
) -> None:
    finding = f"mptcp.{metric} >= 1"
    scenario.write_text(f"{SCENARIO}expect:\n  - {finding}\n")
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert outcome.exit_code == 1
    start = f'x.yaml:{LINE}: expect.0: "{finding}": '
    assert outcome.stderr.startswith(start)
    if message is not None:
        assert outcome.stderr == f"{start}{message}\n"


@pytest.mark.parametrize("metric", METRICS)
def test_check_takes_a_finding_about_a_metric(scenario: Path, metric: str) -> None:
    scenario.write_text(f"{SCENARIO}expect:\n  - mptcp.{metric} >= 1\n")
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert (outcome.exit_code, outcome.stdout) == (0, "x.yaml: good\n")


@pytest.mark.parametrize("metric", ["jain.streams", "stream_share.3", "stream_share.upload.3"])
def test_streams_have_metrics_where_there_are_several(scenario: Path, metric: str) -> None:
    several = SCENARIO.replace("duration: 2 s", "duration: 2 s, streams: 3")
    scenario.write_text(f"{several}expect:\n  - mptcp.{metric} <= 1\n")
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert (outcome.exit_code, outcome.stdout) == (0, "x.yaml: good\n")
    scenario.write_text(f"{several}expect:\n  - mptcp.stream_share.4 <= 1\n")
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert 'stream_share has no part "4"' in outcome.stderr
    single = "  - bulk: {from: client, to: server, name: single, duration: 2 s}\n"
    beside = several.replace("  - ping", f"{single}  - ping")
    scenario.write_text(f"{beside}expect:\n  - mptcp.stream_share.single.1 <= 1\n")
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert 'stream_share has no part "single.1"' in outcome.stderr


def test_a_part_is_looked_for_in_the_variant_that_it_is_asked_of(scenario: Path) -> None:
    scenario.write_text(f"{SCENARIO}expect:\n  - mptcp.goodput.upload > renamed.goodput.upload\n")
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert outcome.exit_code == 1
    assert 'goodput has no part "upload"' in outcome.stderr
    scenario.write_text(f"{SCENARIO}expect:\n  - mptcp.goodput.upload > renamed.goodput.other\n")
    assert CliRunner().invoke(app, ["check", str(scenario)]).exit_code == 0


def test_check_names_a_reference_to_no_metric(scenario: Path) -> None:
    row = "{variant: mptcp, metric: goodput.nosuch, value: 3 Mbit/s}"
    scenario.write_text(f"{SCENARIO}reference:\n  - {row}\n")
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert outcome.exit_code == 1
    assert outcome.stderr.startswith(
        f'x.yaml:{LINE}: reference.0.metric: goodput has no part "nosuch"'
    )


@pytest.mark.parametrize(
    "words",
    [
        ["show", "x.yaml"],
        ["run", "x.yaml"],
    ],
)
def test_show_and_run_refuse_it_too(scenario: Path, words: list[str]) -> None:
    scenario.write_text(f"{SCENARIO}expect: [mptcp.goodputt >= 1]\n")
    with pytest.raises(UserError, match='there is no metric "goodputt"'):
        CliRunner().invoke(app, words, catch_exceptions=False)


def test_run_refuses_an_override_that_leaves_a_finding_without_its_metric(scenario: Path) -> None:
    scenario.write_text(f"{SCENARIO}expect: [mptcp.goodput.upload >= 1]\n")
    words = ["run", "x.yaml", "--set", "traffic.0.bulk.name=other"]
    with pytest.raises(UserError, match='goodput has no part "upload"'):
        CliRunner().invoke(app, words, catch_exceptions=False)
