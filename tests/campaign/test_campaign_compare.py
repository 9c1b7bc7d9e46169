"""`compare`, and tables and figures as files."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import run

from mptcplab.report.export import ExportError, latex, width_inches

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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "run1"], "compare: give two folders or more"),
        (["compare", "run1", "sweep1"], "compare: give results, or sweeps, not both"),
        (["compare", "run1", "nothing"], "nothing: no such folder"),
        (["report", "run1", "--table", "x.xls"], "x.xls: a table's file ends in .csv, .parquet"),
        (["report", "sweep1", "--figure", "x.gif"], "x.gif: a figure's file ends in .png"),
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
