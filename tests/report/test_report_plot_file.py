"""A plot of a result as a file: `report RUN --plot NAME --figure FILE`."""

from pathlib import Path

import pytest
from tests.report.sample import sample

from mptcplab.cli.errors import UserError
from mptcplab.cli.export import Export
from mptcplab.cli.report import SWEEP, report_results
from mptcplab.recording import Result
from mptcplab.report import report, to_html
from mptcplab.report.canvas import NARROW_INCHES, WIDTH_INCHES
from mptcplab.report.figures import Plot, plots
from mptcplab.report.plot_names import PlotName


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("plots") / "out"
    sample(place)
    return place


@pytest.fixture(scope="module")
def drawn(folder: Path) -> list[Plot]:
    return plots(report(Result.open(folder)))


def exported(folders: list[Path], plot: str | None, figure: Path | None) -> None:
    wanted = Export(None, figure, (), "84mm", plot=plot)
    report_results(folders, None, wanted, fail=False, as_json=True)


@pytest.mark.parametrize("plot", ["throughput", "paths"])
@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_plot_is_written(
    folder: Path, tmp_path: Path, plot: str, suffix: str, start: bytes
) -> None:
    exported([folder], plot, tmp_path / f"plot.{suffix}")
    assert (tmp_path / f"plot.{suffix}").read_bytes().startswith(start)


def test_a_plot_of_a_file_is_one_of_the_page(folder: Path, drawn: list[Plot]) -> None:
    page = to_html([report(Result.open(folder))])
    assert PlotName.THROUGHPUT in [one.name for one in drawn]
    assert [one.name for one in drawn] == [
        name for name in PlotName if name in {p.name for p in drawn}
    ]
    assert all(f">{one.title}</h2>" in page for one in drawn)


def test_a_narrow_plot_has_one_legend_above_its_panels(drawn: list[Plot]) -> None:
    (throughput,) = [one for one in drawn if one.name is PlotName.THROUGHPUT]
    wide = throughput.content(WIDTH_INCHES)
    assert wide.legends == []
    assert all(panel.get_legend() is not None for panel in wide.axes)
    narrow = throughput.content(NARROW_INCHES / 2)
    assert narrow.get_figwidth() == NARROW_INCHES / 2
    assert [text.get_text() for text in narrow.legends[0].get_texts()] == ["wifi", "eth"]
    assert all(panel.get_legend() is None for panel in narrow.axes)


def test_a_plot_that_cannot_be_written_is_refused(folder: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    (sweep / SWEEP).touch()
    file = tmp_path / "x.png"
    for folders, plot, figure, told in (
        (
            [folder],
            "frames",
            file,
            f"--plot frames: {folder} has no data for it: it has throughput",
        ),
        ([folder], "rtt", None, "--plot is of a figure: give --figure, too"),
        ([folder, folder], "paths", file, "--plot is of one result: give one RUN"),
        ([sweep], "paths", file, "--plot is of a result: the figure of a sweep is --over its axes"),
    ):
        with pytest.raises(UserError) as caught:
            exported(folders, plot, figure)
        assert str(caught.value).startswith(told)
    assert not file.exists()
