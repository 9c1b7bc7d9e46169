"""`compare`, and tables and figures as files."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.engine.launch import run

import mptcplab as lab
from mptcplab.campaign.compared import shared
from mptcplab.campaign.result import Sweep
from mptcplab.front.comparisons import Compared
from mptcplab.metrics.statistics import estimate
from mptcplab.report.export import ExportError, latex, width_inches
from mptcplab.report.numbers import with_half

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
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sweeps and two results, of which the second have another delay."""
    made = tmp_path_factory.mktemp("compare")
    (made / "two.yaml").write_text(SCENARIO)
    for number, delay in enumerate(("5 ms", "25 ms"), 1):
        words = ["two.yaml", "--engine", "sim", "--set", f"links.b.delay={delay}", "--out"]
        assert run(["run", *words, f"run{number}"], made).returncode == 0
        axis = ["--axis", "links.a.delay=1ms,20ms"]
        assert run(["sweep", *words, f"sweep{number}", *axis], made).returncode == 0
    return made


def test_report_and_compare_name_damaged_lines(folder: Path, tmp_path: Path) -> None:
    for name in ("sweep1", "sweep2"):
        shutil.copytree(folder / name, tmp_path / name)
    # Its runs are in the journal again, and one line is damaged.
    (tmp_path / "sweep1" / "runs" / "000000.parquet").unlink()
    (tmp_path / "sweep1" / "journal" / "000000.jsonl").write_bytes(b"00000000 {}\n")
    line = "sweep1/journal/000000.jsonl:1: the line is damaged: its run is missing until"
    ended = run(["report", "sweep1"], tmp_path)
    assert f"Warning: {line}" in ended.stdout
    told = json.loads(run(["report", "sweep1", "--json"], tmp_path).stdout)
    assert told["warnings"][0].startswith(line)
    assert run(["compare", "sweep2", "sweep1"], tmp_path).stderr.startswith(line)


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_figures_stand_side_by_side_with_the_interval_of_their_difference(
    folder: Path, kind: str
) -> None:
    words = ["compare", f"{kind}1", f"{kind}2", "--metric", "completion_s"]
    ended = run(words, folder)
    assert ended.returncode == 0, ended.stderr
    assert "It has links.b.delay 25 ms, not 5 ms." in ended.stdout
    files = ["--figure", f"{kind}.pdf", "--table", f"{kind}.csv", "--json"]
    told = json.loads(run([*words, *files], folder).stdout)
    rows = [row for row in told["comparisons"][0]["rows"] if row["variant"] == "mptcp"]
    row = next(row for row in rows if row.get("metric", "completion_s") == "completion_s")
    assert row["difference"] == pytest.approx(row["second"] - row["first"])
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert (folder / f"{kind}.pdf").read_bytes().startswith(b"%PDF")
    assert pl.read_csv(folder / f"{kind}.csv").height == 4


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_a_report_writes_its_table_and_its_figure(folder: Path, kind: str) -> None:
    for table, figure in (("t.parquet", "f.svg"), ("t.tex", "f.png")):
        words = ["report", f"{kind}1", "--table", table, "--figure", figure, "--width", "3in"]
        ended = run([*words, "--metric", "goodput"], folder)
        assert ended.returncode == 0, ended.stderr
    frame = pl.read_parquet(folder / "t.parquet")
    assert {"variant", "n", "goodput", "goodput_low", "goodput_high"} <= set(frame.columns)
    assert b'width="216pt"' in (folder / "f.svg").read_bytes()
    assert (folder / "f.png").read_bytes()[16:20] == (900).to_bytes(4)
    assert r"\begin{tabular}" in (folder / "t.tex").read_text()


def test_a_figure_is_over_the_axes_that_were_asked_for(folder: Path) -> None:
    axes = ["--axis", "links.a.delay=1ms,20ms", "--axis", "links.b.rate=5Mbit/s,10Mbit/s"]
    words = ["sweep", "two.yaml", "--engine", "sim", *axes, "--repeat", "1", "--out", "grid"]
    assert run(words, folder).returncode == 0
    every = []
    for keys in (["links.a.delay"], ["links.b.rate"], ["links.b.rate", "links.a.delay"]):
        over = [word for key in keys for word in ("--over", key)]
        ended = run(["report", "grid", "--figure", "f.svg", *over], folder)
        assert ended.returncode == 0, ended.stderr
        every.append((folder / "f.svg").read_text())
    by_delay, by_rate, both = every
    assert len(set(every)) == 3
    # Only a heat map has an image, and its cells are no curves.
    assert ["<image" in figure for figure in (by_delay, by_rate, both)] == [False, False, True]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["report", "run1", "--figure", "x.png", "--over", "links.a.delay"],
            "--over is of a sweep",
        ),
        (["report", "sweep1", "--over", "links.a.delay"], "--over is of a figure: give --figure"),
        (["compare", "run1"], "compare: give two folders or more"),
        (["compare", "run1", "sweep1"], "compare: give results, or sweeps, not both"),
        (["compare", "run1", "nothing"], "nothing: no such folder"),
        (["report", "run1", "--table", "x.xls"], "x.xls: a table's file ends in .csv, .parquet"),
        (["report", "sweep1", "--figure", "x.gif"], "x.gif: a figure's file ends in .png"),
        (["report", "sweep1", "--figure", "x.png", "--over", "links.c"], "--over 'links.c': the"),
        (["report", "run1", "--figure", "x.png", "--width", "9"], "--width '9': give a width"),
        (["report", "sweep1", "--table", "x.csv", "--metric", "godput"], "--metric 'godput'"),
        (["report", "run1", "--table", "x.csv", "--metric", "godput"], "--metric 'godput'"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, words: list[str], message: str) -> None:
    ended = run(words, folder)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith(message)


def told(folder: Path, *words: str) -> list[dict[str, Any]]:
    """The rows of the first comparison."""
    ended = run(["compare", *words, "--json"], folder)
    assert ended.returncode == 0, ended.stderr
    rows: list[dict[str, Any]] = json.loads(ended.stdout)["comparisons"][0]["rows"]
    return rows


def test_points_are_joined_by_value_and_runs_with_one_seed_are_paired(folder: Path) -> None:
    common = ["two.yaml", "--engine", "sim", "--set", "links.b.delay=25 ms"]
    for out, values, seed in (("spelled", "1 ms,20000us", 1), ("others", "1ms,20ms", 11)):
        words = [*common, "--axis", f"links.a.delay={values}", "--seed", str(seed), "--out", out]
        assert run(["sweep", *words], folder).returncode == 0
    same = told(folder, "sweep2", "spelled", "--metric", "completion_s")
    assert len(same) == 4
    assert {row["difference"] for row in same} == {0.0}
    figures = {
        other: [
            row
            for row in told(folder, "sweep1", other, "--metric", "completion_s")
            if row["variant"] == "mptcp"
        ]
        for other in ("spelled", "others")
    }
    assert all(row["paired"] for row in figures["spelled"])
    assert not any(row["paired"] for row in figures["others"])
    ended = run(["compare", "sweep1", "spelled", "--metric", "completion_s"], folder)
    assert "that of a difference is over pairs of runs with one seed" in " ".join(
        ended.stdout.split()
    )
    ended = run(["compare", "sweep1", "others", "--metric", "completion_s"], folder)
    assert "pairs of runs" not in ended.stdout


def test_runs_of_results_that_share_a_seed_are_paired(folder: Path) -> None:
    ended = run(["compare", "run1", "run2", "--metric", "completion_s"], folder)
    assert "over pairs of runs with one seed" in " ".join(ended.stdout.split())
    first, second = (lab.open(folder / name) for name in ("run1", "run2"))
    rows = {row.variant: row for row in lab.compare(first, second).rows if row.metric == "goodput"}
    row = rows["mptcp"]
    assert row.first is not None
    assert row.second is not None
    both = zip(row.first.samples, row.second.samples, strict=True)
    assert row.ci95 == estimate([b - a for a, b in both if a and b]).ci95
    other = Compared(row.variant, row.metric, row.first, row.second)
    assert other.ci95 is not None
    assert other.ci95 != row.ci95


def test_the_interval_of_pairs_is_that_of_their_differences(folder: Path) -> None:
    first, second = (Sweep.open(folder / name) for name in ("sweep1", "sweep2"))
    before, after = (one[0].variants[1].metrics["completion_s"].samples for one in (first, second))
    expected = estimate([b - a for a, b in zip(before, after, strict=True) if a and b])
    row = shared(first, second, "completion_s").row(1, named=True)
    assert row["variant"] == "mptcp"
    assert expected.ci95 is not None
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(expected.ci95)


@pytest.mark.parametrize(
    ("mean", "half", "words"),
    [
        (9.5912, 0.0031, "9.591 ± 0.003"),
        (9.5912, 0.31, "9.59 ± 0.31"),
        (9.5912, 0.0, "9.59 ± 0.00"),
        (9.5912, 1e-15, "9.59 ± 0.00"),
        (0.0, 0.02, "0.00 ± 0.02"),
        (12345.0, 0.2, "12345.0 ± 0.2"),
        (41.361, 0.004, "41.361 ± 0.004"),
        (0.00093240353, 1.2e-10, "0.000932 ± 0.000000"),
        (0.0, 0.0004, "0.0000 ± 0.0004"),
        (3.2e-12, 0.012, "0.0000 ± 0.0120"),
        (-0.0318, 0.12, "−0.032 ± 0.120"),
        (9.5912, 31.0, "9.6 ± 31.0"),
    ],
)
def test_an_interval_has_the_digits_that_show_it(mean: float, half: float, words: str) -> None:
    assert with_half(mean, half) == words


def test_latex_has_means_with_intervals_and_no_special_characters() -> None:
    frame = pl.DataFrame(
        {"a_b": ["x&y", "50 %"], "m": [1.25, -3.0], "m_low": [1.0, None], "m_high": [1.5, None]}
    )
    assert latex(frame).splitlines()[2:] == [
        r"a\_b & m \\",
        r"\midrule",
        r"x\&y & $1.25 \pm 0.25$ \\",
        r"50 \% & $-3.00$ \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_widths() -> None:
    assert width_inches("84mm") == pytest.approx(3.307, abs=1e-3)
    for wrong in ("84", "0.2in", "500cm", "mm"):
        with pytest.raises(ExportError):
            width_inches(wrong)


def test_points_of_equal_values_are_compared_each_with_its_own(folder: Path) -> None:
    (folder / "drawn.yaml").write_text(
        (folder / "two.yaml").read_text(encoding="utf-8")
        + "sweep:\n  drawn: {count: 6, values: {links.a.delay: {choice: [5 ms, 20 ms]}}}\n",
        encoding="utf-8",
    )
    ended = run(["sweep", "drawn.yaml", "--engine", "sim", "--out", "drawn"], folder)
    assert ended.returncode == 0, ended.stderr
    rows = told(folder, "drawn", "drawn", "--metric", "completion_s")
    assert len(rows) == 12
    assert {row["difference"] for row in rows} == {0.0}
    assert all(row["paired"] for row in rows if row["variant"] == "mptcp")
