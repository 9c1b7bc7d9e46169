"""The page of a controller of switches in a browser, and the same charts of a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.controller.bridges import missing, played
from tests.engine.launch import run
from tests.page.opened import ends_s, grave, opened, plot

pytestmark = pytest.mark.skipif(
    not (shutil.which("chromium") or shutil.which("chromium-browser")),
    reason="no browser here: chromium is not installed",
)


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_the_page_of_a_controller_shows_the_last_minutes_and_follows(tmp_path: Path) -> None:
    played(
        tmp_path,
        """
        mptcplab controller --json --policy disjoint --http 127.0.0.1:8080 > events & serving=$!
        controller tcp:127.0.0.1:6653
        await link_up 3
        on $server mptcplab nc -l 80 > received & receiving=$!
        sleep 1
        # Some Mbit/s, for as long as the visit takes.
        while :; do head -c 500000 /dev/zero; sleep 0.2; done | on $client mptcplab nc 10.0.0.2 80 &
        await placed.*10.0.1.2:80 1
        sleep 2
        $PYTHON -m tests.page.controller_visit http://127.0.0.1:8080
        kill -INT $serving
        wait $serving
        """,
    )


def test_the_page_of_a_run_has_its_controllers_charts(tab: Page, tmp_path: Path) -> None:
    for words in (
        ("run", "beyond/controller-failure", "--engine", "sim", "--repeat", "1", "--out", "out"),
        ("report", "out", "--html", "out.html"),
    ):
        ended = run(list(words), tmp_path)
        assert ended.returncode == 0, ended.stderr
    opened(tab, (tmp_path / "out.html").read_text(encoding="utf-8"), tmp_path)
    figures = tab.locator('figure[id^="result-1-controller-"]')
    identifiers = [str(one.get_attribute("id")) for one in figures.all()]
    assert {one.rpartition("-")[2] for one in identifiers} == {"load", "subflows"}
    load = next(one for one in identifiers if one.endswith("-load"))
    over = plot(tab, f"{load}-1")
    over.hover()
    assert "Mbit/s" in tab.locator(f"#{load}-1 .hover").inner_text()
    mark = tab.locator(f"#{load}-1 a.mark", has_text="moved").first
    mark.evaluate("one => one.click()")
    row = tab.locator(":target")
    assert "moved" in row.inner_text()
    moment = float(row.locator("a").get_attribute("data-moment") or "nan")
    row.locator("a").click()
    low, high = ends_s(tab, f"{load}-1")
    assert low <= moment <= high
    for width in (400, 1300):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function("most => document.documentElement.scrollWidth <= most", arg=width)
        assert grave(tab, f"#{load}") == []
