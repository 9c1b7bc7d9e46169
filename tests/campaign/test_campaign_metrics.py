"""The metrics that `report` and `compare` of sweeps show, and how they draw random sweeps."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from tests.engine.launch import run

from mptcplab.campaign.html import plots, to_html
from mptcplab.campaign.plots import distributions_beside
from mptcplab.campaign.report import sweep_report
from mptcplab.campaign.result import Sweep
from mptcplab.cli import compare
from mptcplab.cli.errors import UserError
from mptcplab.cli.export import Export
from mptcplab.cli.report import report_results

SCENARIO = """\
name: two
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
links:
  a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms, loss: 5 %}
  b: {between: [client.b, server.b], rate: 10 Mbit/s, delay: 5 ms}
traffic: [{http: {from: client, to: server, size: 200 kB}}]
variants:
  tcp-a: {protocol: tcp, via: a}
  mptcp: {}
repetitions: 3
expect:
  - finding: mptcp.share.b >= 0.3
  - finding: tcp-a.completed == 1
sweep:
  drawn:
    count: 6
    values:
      links.a.delay: {log-uniform: {from: 1 ms, to: 100 ms}}
      links.b.rate: {log-uniform: {from: 1 Mbit/s, to: 100 Mbit/s}}
"""
FIXED = ["goodput", "completion_s"]
"""The metrics of the scenario that have a table without being asked for."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two axes, and two of the same draws of which the second has another delay."""
    made = tmp_path_factory.mktemp("metrics")
    (made / "two.yaml").write_text(SCENARIO)
    axes = ["--axis", "links.a.delay=1ms,20ms", "--axis", "links.b.rate=5Mbit/s,10Mbit/s"]
    for out, words in (
        ("axes", axes),
        ("drawn1", ["--repeat", "1"]),
        ("drawn2", ["--repeat", "1", "--set", "links.b.delay=25 ms"]),
    ):
        ended = run(["sweep", "two.yaml", "--engine", "sim", *words, "--out", out], made)
        assert ended.returncode == 0, ended.stderr
    return made


def wanted(*metrics: str, table: Path | None = None, figure: Path | None = None) -> Export:
    return Export(table, figure, metrics, "84mm")


def json_of(folder: Path, capsys: pytest.CaptureFixture[str], *metrics: str) -> dict[str, object]:
    report_results([folder / "axes"], None, wanted(*metrics), fail=False, as_json=True)
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return told


def test_the_metrics_that_are_asked_for_are_those_of_tables_json_and_page(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("header_overhead", "share.b", "establishment_s", "header_overhead")
    page = tmp_path / "page.html"
    report_results([folder / "axes"], page, wanted(*asked), fail=False, as_json=False)
    shown = capsys.readouterr().out
    places = [shown.index(title) for title in ("header overhead, %", "share of the payload b, %")]
    assert places == sorted(places)
    assert "goodput" not in shown
    text = page.read_text(encoding="utf-8")
    assert text.count(">Header overhead over both axes</h2>") == 1
    assert ">Share of the payload b over both axes</h2>" in text
    assert ">Goodput</h2>" not in text
    told = json_of(folder, capsys, *asked)
    assert told["metrics"] == ["header_overhead", "share.b", "establishment_s"]
    points = told["points"]
    assert isinstance(points, list)
    assert len(points) == 4
    assert {one["metric"] for point in points for one in point["figures"]} == {*asked}


def test_the_command_shows_the_metrics_of_its_table(folder: Path) -> None:
    words = ["report", "axes", "--metric", "share.b", "--table", "t.csv", "--json"]
    ended = run(words, folder)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["metrics"] == ["share.b"]
    header = (folder / "t.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.split(",")[2:] == ["variant", "n", "share.b", "share.b_low", "share.b_high"]


def test_the_metrics_of_findings_are_shown_beside_the_usual_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = json_of(folder, capsys)["metrics"]
    assert isinstance(metrics, list)
    assert [name for name in metrics if name in FIXED] == FIXED
    assert metrics[-1] == "share.b"
    # All transfers are complete, which has a table only where a finding is about it.
    assert "completed" in metrics


def test_more_metrics_than_usual_have_plots_where_they_are_asked_for(folder: Path) -> None:
    sweep = Sweep.open(folder / "axes")
    asked = ("goodput", "completion_s", "share.a", "share.b", "header_overhead")
    titles = [plot.title for plot in plots(sweep_report(sweep, asked))]
    assert "Header overhead over both axes" in titles
    assert len(titles) == 10


def test_a_metric_without_any_figure_has_a_table_and_no_plot(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweep.open(folder / "axes")
    made = sweep.estimates("goodput").with_columns(mean=None, low=None, high=None)
    empty = sweep.frame("goodput").with_columns(goodput=None)
    monkeypatch.setattr(Sweep, "estimates", lambda _self, *_names: made)
    monkeypatch.setattr(Sweep, "frame", lambda _self, *_names: empty)
    report = sweep_report(sweep, ["goodput"])
    assert [table.rows[0][-1] for table in report.tables] == ["–"]
    assert list(plots(report)) == []
    assert to_html(report).rstrip().endswith("</html>")


def test_bytes_have_their_unit_in_each_cell(folder: Path) -> None:
    name = "retransmitted_bytes"
    for kind in ("axes", "drawn1"):
        (table,) = sweep_report(Sweep.open(folder / kind), [name]).tables
        assert not table.title.startswith("retransmitted, B")
        assert any(cell.endswith(" kB") for row in table.rows for cell in row)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("godput", "--metric 'godput': did you mean \"goodput\"? (the metrics are "),
        ("xyz", "--metric 'xyz': the metrics are "),
    ],
)
def test_a_metric_that_no_run_has_is_refused_with_those_there_are(
    folder: Path, tmp_path: Path, name: str, start: str
) -> None:
    page = tmp_path / "page.html"
    with pytest.raises(UserError) as caught:
        report_results([folder / "axes"], page, wanted("goodput", name), fail=False, as_json=True)
    assert str(caught.value).startswith(start)
    assert "completion_s, " in str(caught.value)
    assert not page.exists()
    ended = run(["compare", "axes", "axes", "--metric", "goodput", "--metric", name], folder)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [str(caught.value)]


def test_every_metric_of_a_comparison_of_sweeps_is_told(folder: Path) -> None:
    words = [
        "compare",
        "drawn1",
        "drawn2",
        "--metric",
        "completion_s",
        "--metric",
        "header_overhead",
    ]
    ended = run([*words, "--table", "both.csv"], folder)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.index("completion time, s") < ended.stdout.index("header overhead, %")
    lines = (folder / "both.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 12 + 12
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["completion_s"] * 12 + [
        "header_overhead"
    ] * 12
    told = json.loads(run([*words, "--json"], folder).stdout)["comparisons"]
    assert [one["metric"] for one in told] == ["completion_s", "header_overhead"]
    assert [len(one["rows"]) for one in told] == [12, 12]


def test_a_comparison_of_draws_is_drawn_as_distributions(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr(compare, "write_figure", lambda figure, _file: figures.append(figure))
    names = [folder / name for name in ("drawn1", "drawn2")]
    export = wanted("completion_s", figure=tmp_path / "c.png")
    compare.compare_folders(names, export, as_json=True)
    (figure,) = figures
    drawn = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in drawn] == ["tcp-a", "mptcp"]
    for axes in drawn:
        assert axes.get_xlabel() == "completion time in s"
        lines = axes.get_lines()
        assert [line.get_label() for line in lines] == [str(name) for name in names]
        for line, name in zip(lines, names, strict=True):
            frame = Sweep.open(name).frame("completion_s").filter(variant=axes.get_title())
            assert np.asarray(line.get_xdata()).tolist() == sorted(frame["completion_s"])
            assert np.asarray(line.get_ydata()).tolist() == [part / 6 for part in range(1, 7)]


def test_distributions_have_panels_of_their_own_for_other_axes() -> None:
    values = {"delay": [5, 5, 5, 5, 9, 9], "variant": ["x", "y", "x", "y", "x", "x"]}
    first = pl.DataFrame(values | {"goodput": [4.0, 2.0, 1.0, None, 3.0, 8.0]})
    second = first.with_columns(goodput=pl.col("goodput") * 2)
    figure = distributions_beside({"first": first, "second": second}, ["delay"], "goodput")
    told = {
        axes.get_title(): {
            line.get_label(): np.asarray(line.get_xdata()).tolist() for line in axes.get_lines()
        }
        for axes in figure.axes
        if axes.get_visible()
    }
    assert told == {
        "x, delay 5": {"first": [1.0, 4.0], "second": [2.0, 8.0]},
        "y, delay 5": {"first": [2.0], "second": [4.0]},
        "x, delay 9": {"first": [3.0, 8.0], "second": [6.0, 16.0]},
        "y, delay 9": {},
    }
