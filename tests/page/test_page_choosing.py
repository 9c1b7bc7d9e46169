"""A moment that a reader chooses: packets of a capture, and the network of a result."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page
from tests.page.opened import grave, opened, plot
from tests.page.pages import result_page
from tests.trace.tabulate import write
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.metrics.comparison import VariantMetrics
from mptcplab.report import html as report_page
from mptcplab.report.loads import link_loads
from mptcplab.trace import open_tables, view
from mptcplab.trace.render import html

FIGURE = "connection-0-chart-1"
PANEL = f"{FIGURE}-1"
THROUGHPUT = "result-1-plot-throughput-3"


def clicked(tab: Page, panel: str, across: float) -> None:
    over = plot(tab, panel)
    box = over.bounding_box()
    assert box is not None
    over.click(position={"x": box["width"] * across, "y": box["height"] * 0.98})


def rows(tab: Page) -> Locator:
    return tab.locator(".packets tbody tr")


def test_a_click_shows_the_packets_around_it(tab: Page, tmp_path: Path, capture: str) -> None:
    opened(tab, capture, tmp_path)
    clicked(tab, PANEL, 0.5)
    at = float(re.findall(r"around ([\d.]+) s", tab.locator(".packets h4").inner_text())[0])
    times = [float(one) for one in rows(tab).locator("td:first-child").all_inner_texts()]
    assert times == sorted(times)
    assert 9 <= len(times) <= 17
    chosen = tab.locator(".packets tr.chosen td")
    nearest = min(times, key=lambda time: abs(time - at))
    assert abs(float(chosen.first.inner_text()) - at) == pytest.approx(abs(nearest - at))
    assert "seq " in chosen.nth(3).inner_text()
    assert tab.locator(f"#{PANEL} .moment-line").is_visible()
    assert grave(tab, ".packets") == []
    tab.locator(".packets button", has_text="Close").click()
    assert tab.locator(".packets").count() == 0


def test_the_keyboard_goes_from_point_to_point_and_shows_their_packets(
    tab: Page, tmp_path: Path, capture: str
) -> None:
    opened(tab, capture, tmp_path)
    plot(tab, PANEL)
    tab.locator(f"#{PANEL} .live").focus()
    told = tab.locator(f"#{FIGURE} > [role=status]")
    frames = []
    for key in ("n", "n", "n", "p"):
        tab.keyboard.press(key)
        frames.append(re.findall(r"frame (\d+)", told.text_content() or "")[0])
    assert frames[1] == frames[3]
    assert len(set(frames)) == 3
    tab.keyboard.press("Enter")
    assert "shown below the chart" in (told.text_content() or "")
    assert tab.locator(".packets tr.chosen td").last.inner_text() == frames[1]


def test_an_event_leads_to_its_packets(tab: Page, tmp_path: Path, capture: str) -> None:
    opened(tab, capture, tmp_path)
    event = tab.locator("tr[id^=connection-0-event]", has_text="traffic moved").first
    event.locator("a").click()
    at = float(event.locator("td").first.inner_text())
    times = [float(one) for one in rows(tab).locator("td:first-child").all_inner_texts()]
    assert times[0] <= at <= times[-1]


def test_where_the_page_has_no_packets_a_command_prints_them(
    tab: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "MOST_PACKETS", 60)
    folder = write(tmp_path / "tables")
    trace = open_tables(folder)
    opened(tab, html.to_html(view(trace)), tmp_path)
    clicked(tab, PANEL, 0.8)
    assert rows(tab).count() == 0
    words = shlex.split(tab.locator(".packets code").inner_text())
    files = [file.path for file in trace.capture.files]
    assert words[: 2 + len(files)] == ["mptcplab", "trace", *files]
    found = CliRunner().invoke(app, ["trace", str(folder), *words[2 + len(files) :]])
    assert found.exit_code == 0, found.output
    at = float(re.findall(r"around ([\d.]+) s", tab.locator(".packets h4").inner_text())[0])
    times = [float(line.split()[0]) for line in found.output.splitlines()]
    assert times
    assert all(abs(time - at) < 0.1 for time in times)


def test_the_network_is_drawn_at_the_moment_of_the_slider(
    tab: Page, tmp_path: Path, text: str
) -> None:
    opened(tab, text, tmp_path)
    network = tab.locator("#result-1-network")
    network.locator("select").select_option("mptcp")
    slider = network.locator("input[type=range]")
    slider.fill("150")
    slider.press("ArrowRight")
    assert network.locator("output").inner_text() == "15.3 s"
    loads = network.locator("tbody tr").all_inner_texts()
    assert any("server.eth\tclient.eth\t90\t90\tup" in row for row in loads)
    names = network.locator("text[data-name]")
    assert "90" in (names.filter(has_text="eth").text_content() or "")
    plot(tab, THROUGHPUT)
    assert tab.locator(f"#{THROUGHPUT} .moment-line").is_visible()
    # At 10 s, when Ethernet has failed.
    over = plot(tab, THROUGHPUT)
    box = over.bounding_box()
    assert box is not None
    over.click(position={"x": box["width"] / 2 + 1, "y": 40})
    assert network.locator("output").inner_text().startswith("10")
    assert names.filter(has_text="eth").text_content() == "eth: down"
    assert network.locator("path[data-link=eth].down").count() == 1
    assert grave(tab, "#result-1-network") == []


def test_another_variant_is_drawn_at_the_same_time(
    tab: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_shorter_runs(variants: Sequence[VariantMetrics]) -> list[dict[str, Any]]:
        return [
            {**one, "ends_s": [end_s / place for end_s in one["ends_s"]]}
            for place, one in enumerate(link_loads(variants), 1)
        ]

    monkeypatch.setattr(report_page, "link_loads", of_shorter_runs)
    opened(tab, result_page(tmp_path / "result"), tmp_path)
    network = tab.locator("#result-1-network")
    network.locator("input[type=range]").fill("148")
    assert network.locator("output").inner_text() == "5 s"
    network.locator("select").select_option("tcp-wifi")
    assert network.locator("output").inner_text() == "5 s"
    assert "tcp-wifi at 5 s" in network.locator("summary").inner_text()
    network.locator("select").select_option("tcp-eth")
    assert network.locator("output").inner_text() == "5 s"
