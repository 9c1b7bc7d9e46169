"""Every plot of an item has a picture, or the page and the JSON say what it lacks."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.reproduction.beside import account
from mptcplab.reproduction.html import to_html
from mptcplab.reproduction.json import to_json
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.model import Document, Item, Plot, PlotKind
from mptcplab.reproduction.pictures import pictures
from mptcplab.reproduction.reading import read

NUMBERS = ["4.11", "4.12", "4.13"]
CAPTURES = ["reproduce", "torino", "--quick", *(f"--figure={number}" for number in NUMBERS)]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reproduction of figures of captures, of two variants."""
    place = tmp_path_factory.mktemp("captures") / "out"
    ended = CliRunner().invoke(app, [*CAPTURES, "--out", str(place)])
    assert ended.exit_code == 0, ended.output
    assert "a picture is missing" not in ended.output
    return place


def listings(folder: Path) -> dict[str, list[str]]:
    """The lines of the one listing of each figure."""
    told = json.loads((folder / "torino-figure-4.11-4.12-4.13.json").read_text("utf-8"))
    assert [item["missing"] for item in told["items"]] == [[], [], []]
    return {item["number"]: item["listings"][0]["lines"] for item in told["items"]}


def test_captures_of_several_variants_are_all_there(out: Path) -> None:
    kinds = [line.split()[4] for line in listings(out)["4.12"]]
    assert kinds == ["address_announced", "address_echoed"]


def test_a_capture_is_told_by_option(out: Path) -> None:
    found = listings(out)
    for number, option in (("4.11", "MP_CAPABLE"), ("4.13", "MP_JOIN")):
        assert len(found[number]) == 2
        assert all(option in line for line in found[number])


def test_a_picture_without_a_recording_says_so(out: Path, tmp_path: Path) -> None:
    shutil.copytree(out, tmp_path / "out")
    shutil.rmtree(next((tmp_path / "out").glob("recordings/*captured*/up-announcing")))
    document = read("torino")
    item = next(one for one in document.items if one.number == "4.12")
    shown = account(document.model_copy(update={"items": (item,)}), {})
    found = pictures(shown, tmp_path / "out")
    (told,) = to_json(shown, Manner("sim"), found)["items"]
    assert told["missing"] == [
        "Events of the protocol in our capture: torino/B-utilisation, up-announcing: not measured"
    ]
    assert '(<span class="differs">not measured</span>)' in to_html(shown, Manner("sim"), found, "")


@pytest.mark.parametrize("kind", PlotKind)
def test_no_plot_is_left_out_in_silence(kind: PlotKind, tmp_path: Path) -> None:
    plot = Plot(kind=kind, scenario="lisbon/A1", variants=("mptcp",), node="client")
    item = Item(figure="1", section="1", caption="x", plots=(plot,))
    document = Document(name="lisbon", title="x", about="x", quick="1 s", items=(item,))
    ((picture,),) = pictures(account(document, {}), tmp_path)
    assert picture.missing == "not measured"


def test_a_capture_without_the_events_says_so(out: Path) -> None:
    plot = Plot(
        kind=PlotKind.EXCHANGE,
        scenario="torino/B-utilisation",
        variants=("up",),
        events=("address_announced",),
    )
    item = Item(figure="1", section="1", caption="x", plots=(plot,))
    document = Document(name="torino", title="x", about="x", quick="1 s", items=(item,))
    ((picture,),) = pictures(account(document, {}), out)
    assert (picture.lines, picture.missing) == ((), "what was measured holds nothing for it")


def test_a_plot_that_lacks_a_variant_names_it(out: Path) -> None:
    plot = Plot(kind=PlotKind.SHARES, scenario="torino/B-utilisation", variants=("up", "up-1"))
    item = Item(figure="1", section="1", caption="x", plots=(plot,))
    document = Document(name="torino", title="x", about="x", quick="1 s", items=(item,))
    ((picture,),) = pictures(account(document, {}), out)
    assert picture.content is not None
    assert picture.missing == "not measured: up-1"
