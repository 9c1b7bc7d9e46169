"""The page of a probe: charts of its figures, with tables behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page
from tests.measure.results import (
    PATHS,
    SENT,
    connection,
    ended,
    of_survival,
    result,
    seen,
    seen_by_target,
)
from tests.page.opened import grave, opened, plot

from mptcplab.measure.charts import charts, goodput_bars
from mptcplab.measure.figures import Figures, Measured, figures
from mptcplab.measure.html import to_html
from mptcplab.measure.plan import Direction, Kind, Step

WIFI, LTE = "10.0.1.1:40000", "10.0.2.1:40001"
SIZES = (100_000, 1_000_000, 10_000_000)
MBPS = {Kind.TCP: (20, 8), Kind.MPTCP: (24,), Kind.AT_ONCE: (27,)}
WAYS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (400, "dark"),
    (800, "light"),
    (1300, "light"),
)


def experiment(repeat: int = 5) -> Figures:
    """Transfers of three sizes both ways, and echoes, each repetition a little slower."""
    every = Measured(PATHS, SENT)
    every.done += [
        (Step(Kind.SURVIVAL, path=path), of_survival(SENT, WIFI, LTE)) for path in range(2)
    ]
    for repetition in range(repeat):
        factor = 1 + 0.04 * repetition
        for path in range(2):
            rtts = tuple(int(10_000 * (path + 1) * factor) + 300 * echo for echo in range(10))
            echoes = result(connection(ended(), ended(), rtts))
            every.done.append((Step(Kind.IDLE, repetition, path), echoes))
        for kind, rates in MBPS.items():
            for path, mbps in enumerate(rates):
                for direction in Direction:
                    for size in SIZES:
                        own = path if kind is Kind.TCP else None
                        begin = repetition % 2 if kind is Kind.MPTCP else None
                        step = Step(kind, repetition, own, direction, size, begin)
                        # Not the same course for each.
                        own_factor = factor + 0.03 * ((repetition * len(kind) + size) % 3)
                        seconds = own_factor * (0.02 + 8 * size / (mbps * 1e6))
                        every.done.append((step, transferred(step, seconds)))
    return figures(every)


def transferred(step: Step, seconds: float) -> dict[str, object]:
    came, sent = ended(step.size_bytes, int(seconds * 1e6)), ended(sent=step.size_bytes)
    probe, target = (came, sent) if step.direction is Direction.DOWN else (sent, came)
    if step.kind is Kind.MPTCP:
        probe["seen"] = seen(WIFI, LTE, mptcp=True, endpoints=2)
        target["seen"] = seen_by_target(WIFI, LTE)
    return result(connection(probe, target))


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(experiment(), "target.example.org", "2026-11-30 10:00 UTC")


def test_charts_hold_the_figures_of_the_tables() -> None:
    told = experiment()
    by_size, by_repetition, rtt = (one.chart for one in charts(told))
    down = told.sizes[Direction.DOWN]
    (panel, _) = by_size.panels
    names = [one.label for one in panel.series]
    assert names == ["TCP wifi", "TCP lte", "MPTCP"]
    assert list(panel.series[2].x) == [float(size) for size in SIZES]
    assert list(panel.series[2].y) == [size.mptcp_time.mean for size in down]
    assert panel.series[2].half is not None
    assert list(panel.series[2].half) == [size.mptcp_time.half_width for size in down]
    samples = list(by_repetition.panels[0].series[0].y)
    assert samples == list(down[-1].path_times[0].samples)
    assert [one.label for one in rtt.panels[0].series] == [
        "wifi idle (n = 50)",
        "lte idle (n = 50)",
    ]
    bars = goodput_bars(told)
    assert bars is not None
    assert "down, 10 MB" in bars.drawn
    assert f"{down[-1].at_once_goodput.mean:.4g}" in bars.drawn


def test_there_is_no_chart_without_anything_to_see() -> None:
    nothing = figures(Measured(PATHS, SENT))
    assert (charts(nothing), goodput_bars(nothing)) == ([], None)
    assert "<h1>" in to_html(nothing, "t", "now")
    # A single repetition has no course, and a single size no line.
    once = {one.id for one in charts(experiment(1))}
    assert once == {"times", "rtt"}


def test_the_page_is_whole_and_readable(tab: Page, page: str, tmp_path: Path) -> None:
    opened(tab, page, tmp_path)
    for width, scheme in WAYS:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function("most => document.documentElement.scrollWidth <= most", arg=width)
        assert grave(tab) == []


def test_charts_tell_values_and_have_tables_behind_them(
    tab: Page, page: str, tmp_path: Path
) -> None:
    opened(tab, page, tmp_path)
    plot(tab, "times-1")
    tab.locator("#times-1 .live").focus()
    tab.keyboard.press("n")
    assert "TCP wifi: " in tab.locator("#times-1 .hover").inner_text()
    for name in ("goodput", "times", "repetitions", "rtt"):
        behind = tab.locator(f"#{name} details.behind")
        behind.locator("summary").click()
        assert behind.locator("tbody tr").count() > 1
