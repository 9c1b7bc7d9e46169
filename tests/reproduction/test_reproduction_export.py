"""Tables and pictures of a reproduction as files for papers and other programs."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.reproduction.beside import Known, account
from mptcplab.reproduction.export import drawings, table_of, tables
from mptcplab.reproduction.model import Document
from mptcplab.reproduction.needs import needs
from mptcplab.reproduction.pictures import Picture
from mptcplab.reproduction.reading import names, read
from mptcplab.scenario import load

DOCUMENTS = {name: read(name) for name in names()}
FORMATS = ["csv", "parquet", "tex", "png", "svg", "pdf"]
OURS = ["column", "unit", "document", "at_most", "ours", "ours_low", "ours_high", "mark", "note"]
CHOSEN = ["reproduce", "torino", "--figure", "5.5", "--figure", "4.12", "--quick"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reproduction of a figure with a table, and of a capture."""
    place = tmp_path_factory.mktemp("export") / "out"
    formats = [f"--export={one}" for one in FORMATS]
    ended = CliRunner().invoke(app, [*CHOSEN, "--out", str(place), *formats])
    assert ended.exit_code == 0, ended.output
    assert f"exported: 12 files to {place / 'export'}" in ended.output
    return place


def test_a_file_is_there_for_each_table_and_picture(out: Path) -> None:
    wanted = {f"torino-figure-{of}.{one}" for of in ("5.5", "4.12-exchange") for one in FORMATS[:3]}
    wanted |= {
        f"torino-figure-5.5-{of}.{one}" for of in ("bars", "throughput") for one in FORMATS[3:]
    }
    assert {path.name for path in (out / "export").iterdir()} == wanted


def test_the_table_has_the_figures_of_the_page(out: Path) -> None:
    frame = pl.read_parquet(out / "export" / "torino-figure-5.5.parquet")
    assert frame.columns == ["Paths", *OURS]
    assert pl.read_csv(out / "export" / "torino-figure-5.5.csv").rows()[0][:3] == frame.row(0)[:3]
    told = json.loads((out / "torino-figure-5.5-4.12.json").read_text("utf-8"))
    item = next(one for one in told["items"] if one["number"] == "5.5")
    rows = [row[1] for row in item["rows"]]
    assert frame["ours"].to_list()[:3] == [row["mean"] for row in rows[:3]]
    assert frame["mark"].to_list() == [row["mark"] for row in rows]
    more = frame.row(3, named=True)
    assert (more["unit"], more["document"]) == ("%", 53.0)
    assert more["ours"] == pytest.approx(100 * rows[3]["mean"])
    tabular = (out / "export" / "torino-figure-5.5.tex").read_text("utf-8")
    assert r"MPTCP, more than Ethernet (\%) & Throughput (Mbit/s) & \% & $53.0$ &" in tabular


def test_a_capture_is_a_table_of_lines(out: Path) -> None:
    frame = pl.read_csv(out / "export" / "torino-figure-4.12-exchange.csv")
    assert frame.columns == ["line"]
    assert "address_announced" in frame["line"][0]


def test_a_picture_is_as_wide_as_the_column_of_a_paper(out: Path) -> None:
    picture = (out / "export" / "torino-figure-5.5-throughput.svg").read_text("utf-8")
    found = re.search(r'<svg[^>]* width="([\d.]+)pt"', picture)
    assert found is not None
    assert float(found[1]) == pytest.approx(84 / 25.4 * 72, abs=0.1)
    assert (out / "export" / "torino-figure-5.5-bars.pdf").read_bytes().startswith(b"%PDF")
    assert (out / "export" / "torino-figure-5.5-bars.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_every_table_has_a_row_a_figure_and_a_name_of_its_own(document: Document) -> None:
    known = {need.scenario: Known(load(need.scenario), {}) for need in needs(document)}
    found: list[str] = []
    for item in account(document, known).items:
        figures = list(item.item.measured())
        frame = table_of(item)
        if not figures:
            assert frame is None
            continue
        assert frame is not None
        assert frame.height == len(figures)
        assert frame.columns[-len(OURS) :] == OURS
        naming = [
            all(isinstance(row[at], str) for row in item.rows) for at in range(len(item.rows[0]))
        ]
        assert len(frame.columns) == sum(naming) + len(OURS)
        pictures = [Picture(plot.kind, "", lines=("x",)) for plot in item.item.plots]
        found += [name for name, _ in tables(item, pictures)]
        assert list(drawings(item, pictures)) == []
    assert len(found) == len(set(found))


def test_an_unknown_format_is_refused_before_anything_runs(tmp_path: Path) -> None:
    words = [*CHOSEN, "--out", str(tmp_path / "out"), "--export", "docx"]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 2
    assert "'docx': known: csv, parquet, tex, png, svg, pdf" in ended.output
    assert not (tmp_path / "out").exists()
