"""Pages in a browser."""

from __future__ import annotations

from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page

GRAVE = ("serious", "critical")


def opened(tab: Page, text: str, folder: Path) -> None:
    """Shows a page, and waits until its script has begun."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    tab.goto(file.as_uri())
    tab.wait_for_selector("html[data-ready]", state="attached")


def plot(tab: Page, panel: str) -> Locator:
    """The plot of a panel, drawn."""
    tab.locator(f"#{panel}").scroll_into_view_if_needed()
    over = tab.locator(f"#{panel} .u-over")
    over.wait_for()
    # The wheel scrolls the page for as long as it has just done so.
    tab.wait_for_timeout(400)
    return over


def ends_s(tab: Page, panel: str) -> tuple[float, float]:
    """The range that a panel shows."""
    low, high = tab.evaluate(
        f"(() => {{ const x = document.querySelector('#{panel} .live').plot.scales.x;"
        " return [x.min, x.max]; })()"
    )
    return low, high


def grave(tab: Page, within: str | None = None) -> list[str]:
    """Serious and critical findings of axe-core, each with the elements that it is about.

    `within` chooses a part of the page, which takes less time than all of it.
    """
    found = Axe().run(tab, context=within).response["violations"]
    return [
        f"{one['id']}: {[node['html'][:150] for node in one['nodes'][:5]]}"
        for one in found
        if one["impact"] in GRAVE
    ]
