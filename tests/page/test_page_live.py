"""The page of a run that goes on in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.live.rows import serving, steady
from tests.page.opened import grave

from mptcplab.live.server import Server

expect.set_options(timeout=30_000)
"""Milliseconds: the page asks twice a second, and the machine may be busy."""


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 800, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    told: list[str] = []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    yield tab
    context.close()
    assert told == []


def test_the_page_follows_the_run_and_the_next_one(tab: Page, server: Server) -> None:
    tab.goto(server.address)
    expect(tab.locator("#progress")).to_contain_text("4.0 of 10 s of this run")
    tab.locator("#throughput .u-over").wait_for()
    assert grave(tab) == []
    server.session.reached(0, 5.0)
    server.session.watched(0, steady(5.0, wifi=20.0, eth=90.0)[-2:])
    expect(tab.locator("#progress")).to_contain_text("5.0 of 10 s of this run")
    expect(tab.locator("#paths")).to_contain_text("wifi")
    tab.locator("#throughput button.copy").first.click()
    copied = tab.evaluate("navigator.clipboard.readText()").splitlines()
    # The last second of the course, before which the rate was another one.
    assert copied[-1] == ",eth,5,130"
    assert [row.split(",")[1] for row in copied].count("eth") == 41
    tab.evaluate(
        "window.left = 0;"
        "document.querySelector('#throughput .live').plot.hooks.destroy = [() => (left += 1)];"
    )
    server.session.begun(1, "lisbon/A1 tcp 1 (2/2)", 3.0)
    expect(tab.locator("h1")).to_have_text("lisbon/A1 tcp 1 (2/2)")
    assert tab.evaluate("left") == 1, "the chart of the run before holds nothing"
    server.session.has_ended = True
    expect(tab.locator("#progress")).to_contain_text("All runs have ended")
