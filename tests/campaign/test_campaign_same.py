"""Repetitions that are alike: at all points of a sweep, or at some."""

import json
from pathlib import Path

import pytest
from tests.engine.launch import run

from mptcplab.campaign.compared import shared
from mptcplab.campaign.html import to_html
from mptcplab.campaign.report import sweep_report
from mptcplab.campaign.result import Sweep
from mptcplab.campaign.show import to_notebook

SCENARIO = """\
name: dead
hosts:
  client: {interfaces: {a: {}}}
  server: {interfaces: {a: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms, loss: 100 %}
traffic: [{bulk: {from: client, to: server, way: up, duration: 1 s}}]
variants: {tcp: {protocol: tcp}}
repetitions: 2
"""
MARK = "* the repetitions are alike in every metric"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sweeps of links that lose every packet, which leaves nothing to chance, and of such a link
    beside one that loses some."""
    made = tmp_path_factory.mktemp("same")
    (made / "dead.yaml").write_text(SCENARIO)
    for out, axis in (("all", "links.a.delay=5ms,9ms"), ("some", "links.a.loss=100%,1%")):
        words = ["sweep", "dead.yaml", "--engine", "sim", "--axis", axis, "--out", out]
        ended = run(words, made)
        assert ended.returncode == 0, ended.stderr
    return made


def test_where_chance_decides_elsewhere_alike_repetitions_are_samples(folder: Path) -> None:
    sweep = Sweep.open(folder / "some")
    told = sweep.estimates("goodput")
    assert told["same"].to_list() == [True, False]
    assert told["n"].to_list() == [2, 2]
    assert told["low"].null_count() == 0
    assert told["low"][0] == told["mean"][0] == told["high"][0]
    (same,), (other,) = (point.variants for point in sweep)
    assert (same.sample_size, other.sample_size) == (2, 2)
    assert same.metrics["goodput"].half_width == 0
    (table,) = sweep_report(sweep, ["goodput"]).tables
    assert [row[-1].endswith("*") for row in table.rows] == [True, False]
    assert table.note == MARK
    assert not any("repetitions" in warning for warning in sweep_report(sweep).warnings)
    difference = shared(sweep, sweep, "goodput")
    assert difference["difference_low"].to_list() == [0, 0]


def test_where_nothing_depends_on_chance_there_are_no_intervals(folder: Path) -> None:
    sweep = Sweep.open(folder / "all")
    told = sweep.estimates("goodput")
    assert told["same"].to_list() == [True, True]
    assert told["n"].to_list() == [1, 1]
    assert told["low"].null_count() == 2
    assert [point.variants[0].sample_size for point in sweep] == [1, 1]
    report = sweep_report(sweep)
    assert report.warnings[0] == (
        "all 2 repetitions of each point and variant have the same figures, and count as one run: "
        "there is nothing to repeat"
    )
    assert not any(table.note for table in report.tables)


def test_the_mark_is_told_of_on_terminal_page_and_notebook_and_json_has_it(folder: Path) -> None:
    words = ["report", "some", "--metric", "goodput"]
    assert f"  {MARK}" in run(words, folder).stdout.splitlines()
    sweep = Sweep.open(folder / "some")
    assert MARK in to_html(sweep_report(sweep))
    assert MARK in to_notebook(sweep)
    points = json.loads(run([*words, "--json"], folder).stdout)["points"]
    figures = [figure for point in points for figure in point["figures"]]
    assert [figure["same"] for figure in figures] == [True, False]
    assert [figure["n"] for figure in figures] == [2, 2]
