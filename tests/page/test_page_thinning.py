"""Thinned series keep their extremes, their means and their gaps."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import pytest

from mptcplab.page.charts import Axis, Chart, Kind, Panel, Series
from mptcplab.page.drawing import even_ticks, logarithmic_ticks
from mptcplab.page.encoding import page_data, told_charts
from mptcplab.page.thinning import AS_THEY_ARE, extremes, means, pieces


def test_a_series_that_is_not_too_long_stays_as_it_is() -> None:
    assert extremes(np.arange(100.0), 100).tolist() == list(range(100))


@pytest.mark.parametrize("peak", [0, 1, 49_999, 77_777, 99_999])
def test_one_extreme_among_many_points_is_kept(peak: int) -> None:
    values = np.sin(np.arange(100_000.0))
    values[peak] = -9
    kept = extremes(values, 500)
    assert len(kept) <= 500
    assert {0, peak, 99_999} <= set(kept.tolist())
    assert values[kept].max() == values.max()


def test_means_of_longer_intervals_carry_as_much() -> None:
    x = np.cumsum(np.full(1000, 0.01))
    y = np.random.default_rng(7).uniform(0, 100, 1000)
    for most in (1, 7, 240, 501):
        ends, mean = means(0.0, x, y, most)
        lengths = np.diff(ends, prepend=0.0)
        assert most / 2 <= len(ends) <= most
        assert ends[-1] == x[-1]
        assert (mean * lengths).sum() == pytest.approx((y * 0.01).sum())


def test_gaps_divide_a_series() -> None:
    nan = np.nan
    found = pieces(np.array([0.0, 1, nan, 3, 4, 5]), np.array([1.0, 2, nan, nan, 4, 5]))
    assert [(one.start, one.stop) for one in found] == [(0, 2), (4, 6)]
    assert pieces(np.array([nan]), np.array([nan])) == []


def chart(*series: Series) -> Chart:
    return Chart(Axis("time", "s"), Axis("RTT", "ms"), (Panel("one", series),))


def told(text: str, *, is_compressed: bool) -> Any:
    """The first series."""
    whole = zlib.decompress(base64.b64decode(text)).decode() if is_compressed else text
    return json.loads(whole)[0]["panels"][0]["series"][0]


def test_the_data_of_a_page_is_what_was_given() -> None:
    x, y = np.array([0.5, 0.75, np.nan, 2.0]), np.array([10.0, 12.5, np.nan, -3.125])
    text, is_compressed = page_data(told_charts({"a": chart(Series("</script><!--", "red", x, y))}))
    assert not is_compressed
    assert "<" not in text
    series = told(text, is_compressed=False)
    assert series["label"] == "</script><!--"
    units, parts = series["units"], series["pieces"]
    assert np.cumsum(parts[0][0]) * units[0] == pytest.approx([0.5, 0.75])
    assert np.array(parts[0][1]) * units[1] == pytest.approx([10, 12.5])
    assert np.array(parts[1][1]) * units[1] == pytest.approx([-3.125])


def test_a_million_points_are_at_most_so_many_in_the_page() -> None:
    x = np.arange(1_000_000) / 1000
    y = np.random.default_rng(1).uniform(10, 20, x.size)
    y[123_456] = 99
    text, is_compressed = page_data(told_charts({"a": chart(Series("rtt", "red", x, y))}))
    assert is_compressed
    assert len(text) < 300_000
    series = told(text, is_compressed=True)
    [[places, values, *_]] = series["pieces"]
    assert len(places) == len(values) <= AS_THEY_ARE
    assert max(values) * series["units"][1] == pytest.approx(99)


def test_many_series_share_the_points_of_a_page() -> None:
    noise = np.random.default_rng(2)
    series = [
        Series(
            f"{place}", "red", np.cumsum(noise.uniform(0, 1, 12_000)), noise.uniform(0, 9, 12_000)
        )
        for place in range(40)
    ]
    text, is_compressed = page_data(told_charts({"a": chart(*series)}))
    assert len(text) < 3_000_000
    [[places, *_]] = told(text, is_compressed=is_compressed)["pieces"]
    assert 9_000 < len(places) <= 10_000


def test_an_axis_has_room_above_and_never_no_length() -> None:
    flat = Series("a", "red", np.array([0.0, 1.0]), np.zeros(2), Kind.LINE)
    assert chart(flat).range("y") == (0, 1)
    assert chart(flat).range("x") == (0, 1)
    assert chart().range("y") == (0, 1)
    low, high = chart(Series("a", "red", np.array([3.0]), np.array([-2.0]))).range("y")
    assert low < -2 < high


def test_ticks_are_round() -> None:
    assert even_ticks(0, 97, 5) == [0, 20, 40, 60, 80]
    assert even_ticks(0.13, 0.31, 4) == [0.15, 0.2, 0.25, 0.3]
    assert logarithmic_ticks(0.9, 60) == [1, 2, 5, 10, 20, 50]
