"""A reader's actions on a controller's page: a program for the namespace of that controller.

Its argument is the address of the page. It fails where something is not as it should be.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.page.opened import ends_s, grave

LOAD, SUBFLOWS = "load-1", "subflows-1"
DIRECT, AROUND = "1:1-3:1", "1:2-2:1, 2:2-3:2"
"""The two paths between the hosts."""
expect.set_options(timeout=30_000)
"""Milliseconds: the machine may be busy."""


def main(address: str) -> None:
    """Visits the page.

    Raises:
        AssertionError: the page is not as it should be.

    """
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with opened(browser, f"{address}/live") as tab:
            follows(tab)
            is_zoomed(tab)
            is_read_by_keys(tab)
            has_its_events(tab)
            has_tables_behind_its_charts(tab)
            is_readable(tab)
        with opened(browser, address) as tab:
            stands_still(tab)
        works_without_a_script(browser, address)
        browser.close()


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """A page with its charts, which tells of no error."""
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    tab = context.new_page()
    told: list[str] = []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.goto(address)
    for panel in (LOAD, SUBFLOWS):
        tab.locator(f"#{panel}").scroll_into_view_if_needed()
        tab.locator(f"#{panel} .u-over").wait_for()
    tab.locator(f"#{LOAD}").scroll_into_view_if_needed()
    # The wheel scrolls the page for as long as it has just done so.
    tab.wait_for_timeout(400)
    yield tab
    context.close()
    assert told == [], told


def follows(tab: Page) -> None:
    """New samples come into the charts, and the page is not loaded again."""
    tab.evaluate("window.stays = true")
    _, end_s = ends_s(tab, LOAD)
    tab.wait_for_function(
        f"end => document.querySelector('#{LOAD} .live').plot.scales.x.max > end + 2", arg=end_s
    )
    assert tab.evaluate("window.stays")
    expect(tab.locator("[data-part=state]")).to_contain_text("disjoint")
    for path in (DIRECT, AROUND):
        expect(tab.locator("#subflows .legend")).to_contain_text(path)
    expect(tab.locator("#load .legend")).to_contain_text("1:1 → 3:1")
    over = tab.locator(f"#{LOAD} .u-over")
    over.hover()
    expect(tab.locator(f"#{LOAD} .hover")).to_contain_text("1:1 → 3:1: ")
    assert "Mbit/s" in tab.locator(f"#{LOAD} .hover").inner_text()


def is_zoomed(tab: Page) -> None:
    """The wheel zooms both charts, a double click shows all."""
    over = tab.locator(f"#{LOAD} .u-over")
    over.hover()
    low, high = ends_s(tab, LOAD)
    tab.mouse.wheel(0, -100)
    tab.wait_for_timeout(100)
    zoomed = ends_s(tab, LOAD)
    assert zoomed[1] - zoomed[0] < 0.85 * (high - low)
    assert ends_s(tab, SUBFLOWS) == zoomed
    # The part that is zoomed stays while samples come.
    tab.wait_for_timeout(2500)
    assert ends_s(tab, LOAD) == zoomed
    over.dblclick()
    assert ends_s(tab, LOAD)[1] > high


def is_read_by_keys(tab: Page) -> None:
    """Keys tell values."""
    tab.locator(f"#{LOAD} .live").focus()
    tab.keyboard.press("+")
    tab.keyboard.press("n")
    expect(tab.locator("#load [role=status]")).to_contain_text("Mbit/s")
    tab.keyboard.press("0")


def has_its_events(tab: Page) -> None:
    """Events are marked on the axis of time, and lead to their rows, as the rows do to them."""
    mark = tab.locator(f"#{LOAD} .mark", has_text="is up and").first
    mark.evaluate("one => one.click()")
    tab.wait_for_function("location.hash.startsWith('#event-')")
    expect(tab.locator(":target")).to_contain_text("switch up")
    # The page follows the run: its rows move.
    tab.locator(":target a").evaluate("one => one.click()")
    assert tab.url.endswith("#load")
    low, high = ends_s(tab, LOAD)
    tab.locator(f"#{LOAD} .u-over").dblclick()
    whole = ends_s(tab, LOAD)
    assert high - low < 0.2 * (whole[1] - whole[0])


def has_tables_behind_its_charts(tab: Page) -> None:
    """The figures of each chart are in a table."""
    for chart, line in (("load", "1:1 → 3:1"), ("subflows", DIRECT)):
        tab.locator(f"#{chart} summary").click()
        table = tab.locator(f"#{chart} table")
        expect(table).to_contain_text(line)
        assert table.locator("th").all_inner_texts()[1:] == ["least", "mean", "greatest", "now"]
    load = tab.locator("#load tbody tr", has_text="1:1 → 3:1").locator("td").nth(3)
    assert float(load.inner_text()) > 1


def is_readable(tab: Page) -> None:
    """Nothing is cut, and nothing hard to read, on screens of any width, light or dark."""
    for width in (400, 800, 1300):
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            tab.set_viewport_size({"width": width, "height": 900})
            # Charts follow the width a moment later.
            tab.wait_for_function("most => document.documentElement.scrollWidth <= most", arg=width)
            assert grave(tab) == [], (width, scheme)


def stands_still(tab: Page) -> None:
    """Tables sort, and are copied, on the page that does not follow."""
    before = ends_s(tab, LOAD)
    rates = tab.locator("[data-part=Links] th button", has_text="load, Mbit/s")
    rates.click()
    rates.click()
    first = tab.locator("[data-part=Links] tbody tr").first
    assert "1:" in first.inner_text() or "2:" in first.inner_text()
    assert tab.locator("[data-part=Links] button.copy").count() == 1
    tab.wait_for_timeout(1500)
    assert ends_s(tab, LOAD) == before


def works_without_a_script(browser: Browser, address: str) -> None:
    """Drawing and tables are there, and are loaded again."""
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/live")
    assert tab.locator(".network svg").is_visible()
    assert "1:1" in tab.locator("[data-part=Links]").inner_text()
    assert tab.locator(".live").count() == 0
    assert tab.locator("meta[http-equiv=refresh]").count() == 1
    context.close()


if __name__ == "__main__":
    main(sys.argv[1])
