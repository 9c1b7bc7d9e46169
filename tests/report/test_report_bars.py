"""A metric of results as bars: no name is over another, and no bar under another's name."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from tests.report.sample import sample

from mptcplab.metrics import VariantMetrics, compare
from mptcplab.report.bars import bars

NAMES = (
    "tcp-eth0",
    "fullmesh",
    "fullmesh-announced",
    "application-opened",
    "wifi-only",
    "cellular-only",
)
COLUMN_INCHES = 84 / 25.4


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[VariantMetrics]:
    made: Path = tmp_path_factory.mktemp("bars")
    return compare(sample(made / "out"))


def named(own: VariantMetrics, names: tuple[str, ...]) -> list[VariantMetrics]:
    return [replace(own, name=name) for name in names]


def drawn(figure: Figure) -> tuple[list[Bbox], list[str]]:
    """Where the names of the bars stand in the picture, in their order, and the names."""
    figure.draw_without_rendering()
    axes = figure.axes[0]
    labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    own = [one for one in labels if "–" not in one.get_text() and one.get_text()[0].isalpha()]
    return [one.get_window_extent() for one in own], [one.get_text() for one in own]


@pytest.mark.parametrize("names", [NAMES, NAMES[:2], ("a", "b", "c"), tuple("abcdefghijklmnop")])
@pytest.mark.parametrize("results", [1, 3])
def test_names_stand_apart_each_beside_its_bars(
    measured: list[VariantMetrics], names: tuple[str, ...], results: int
) -> None:
    own = {f"result {number}": named(measured[2], names) for number in range(results)}
    figure = bars(own, "goodput", COLUMN_INCHES)
    boxes, told = drawn(figure)
    assert told == list(names)
    assert all(not one.overlaps(other) for one, other in pairwise(boxes))
    whole = figure.bbox
    assert all(whole.x0 <= one.x0 and one.x1 <= whole.x1 for one in boxes)
    rectangles = [one.get_window_extent() for one in figure.axes[0].patches]
    assert len(rectangles) == results * len(names)
    lie = boxes[0].x1 < rectangles[0].x0
    for place, box in enumerate(boxes):
        group = Bbox.union([rectangles[result * len(names) + place] for result in range(results)])
        if lie:
            assert box.y0 + box.height / 2 == pytest.approx(group.y0 + group.height / 2, abs=3)
        else:
            assert box.x0 + box.width / 2 == pytest.approx(group.x0 + group.width / 2, abs=3)


def test_a_long_name_is_wrapped_and_the_legend_within_the_picture(
    measured: list[VariantMetrics],
) -> None:
    long = "mptcp-with-round-robin-and-a-larger-send-buffer"
    labels = [f"/results/of/a/long/evening/in/the/laboratory/number/{n}" for n in (1, 2)]
    figure = bars(
        {label: named(measured[2], (long, "tcp")) for label in labels}, "goodput", COLUMN_INCHES
    )
    boxes, told = drawn(figure)
    assert told[0].replace("\n", "") == long
    assert told[0].count("\n") == 1
    [legend] = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1
    assert boxes[0].x1 - boxes[0].x0 < figure.bbox.width / 2


def test_a_variant_without_runs_has_no_place_and_one_without_the_metric_says_so(
    measured: list[VariantMetrics],
) -> None:
    ran, other = named(measured[2], ("ran", "has-none"))
    planned = replace(ran, name="planned", runs=(), metrics={})
    figure = bars({"out": [planned, ran, replace(other, metrics={})]}, "goodput", COLUMN_INCHES)
    _, told = drawn(figure)
    assert told == ["ran", "has-none"]
    [text] = figure.axes[0].texts
    assert text.get_text() == "no figure"
    assert isinstance(text, Annotation)
    assert text.xy == (1.0, 0.0)
