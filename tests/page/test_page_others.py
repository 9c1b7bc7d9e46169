"""The pages of captures, sweeps, documents and several results in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page
from tests.engine.launch import run
from tests.page.opened import ends_s, grave, opened, plot
from tests.report.sample import sample

from mptcplab.report import report, to_html

WAYS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((400, "dark"), (1300, "light"))
SWEEP = """\
name: swept
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 5 ms}}
traffic: [{http: {from: client, to: server, size: 20 kB}}]
sweep: {axes: {links.a.rate: [5 Mbit/s, 10 Mbit/s], links.a.delay: [1 ms, 9 ms, 20 ms]}}
"""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "swept.yaml").write_text(SWEEP)
    commanded(folder, "sweep", "swept.yaml", "--engine", "sim", "--repeat", "1", "--out", "out")
    commanded(folder, "report", "out", "--html", "sweep.html")
    return (folder / "sweep.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("document")
    commanded(folder, "reproduce", "lisbon", "--quick", "--figure", "6.16", "--out", "out")
    return (folder / "out" / "lisbon-figure-6.16.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("several")
    engines = {"kernel": 40, "sim": 30}
    return to_html([report(sample(folder / name, 2, name, mbps)) for name, mbps in engines.items()])


def commanded(folder: Path, *words: str) -> None:
    ended = run(list(words), folder)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("made", ["capture", "sweep", "document", "several"])
def test_pages_are_whole_and_readable(
    tab: Page, tmp_path: Path, made: str, request: pytest.FixtureRequest
) -> None:
    opened(tab, request.getfixturevalue(made), tmp_path)
    for width, scheme in WAYS:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 900})
        # Charts follow the width a moment later.
        tab.wait_for_function("most => document.documentElement.scrollWidth <= most", arg=width)
        assert grave(tab) == []
    assert (
        tab.evaluate(
            "[...document.links].filter((one) => !document.getElementById(one.hash.slice(1)))"
            ".map((one) => one.hash)"
        )
        == []
    )


def test_a_packet_of_a_capture_is_told_with_its_frame(
    tab: Page, tmp_path: Path, capture: str
) -> None:
    opened(tab, capture, tmp_path)
    panel = "connection-0-chart-1-1"
    over = plot(tab, panel)
    box = over.bounding_box()
    assert box is not None
    # Along the way of the data, from the lower left to the upper right.
    for place in range(5, 100, 5):
        over.hover(
            position={"x": box["width"] * place / 100, "y": box["height"] * (1 - place / 100)}
        )
        told = tab.locator(f"#{panel} .hover").inner_text()
        if "frame" in told:
            break
    assert "subflow" in told
    assert " MB at " in told
    link = tab.locator("#connection-0-event-0 a")
    link.click()
    low, high = ends_s(tab, panel)
    moment = float(link.get_attribute("data-moment") or "nan")
    assert low <= moment <= high


def test_results_stand_beside_each_other_and_share_their_time(
    tab: Page, tmp_path: Path, several: str
) -> None:
    opened(tab, several, tmp_path)
    bars = tab.locator("#beside-goodput")
    assert "32.0" not in bars.inner_text()
    assert bars.locator("text", has_text="test/hand (sim)").count() == 3
    first, second = "result-1-plot-throughput-1", "result-2-plot-throughput-1"
    plot(tab, second)
    plot(tab, first).hover()
    tab.mouse.wheel(0, -100)
    tab.wait_for_timeout(100)
    assert ends_s(tab, first) == ends_s(tab, second)
    assert ends_s(tab, first)[0] > 0


def test_a_heat_map_and_a_curve_with_names_of_values(tab: Page, tmp_path: Path, sweep: str) -> None:
    opened(tab, sweep, tmp_path)
    over = plot(tab, "plot-completion-s-1")
    over.hover(position={"x": 30, "y": 40})
    assert "links.a.delay 1 ms" in tab.locator("#plot-completion-s-1 .hover").inner_text()
    assert tab.locator("table.heat").first.locator("td").count() == 6
