"""A browser for the pages: that of the system, without which these tests are skipped."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.page.pages import capture_page, result_page


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no browser here: chromium is not installed")
    with sync_playwright() as playwright:
        # As root the browser has no sandbox of its own.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a result."""
    return result_page(tmp_path_factory.mktemp("page") / "out")


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a capture."""
    return capture_page(tmp_path_factory.mktemp("capture") / "tables")


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A page that tells of every error, and knows nothing but files."""
    context = browser.new_context(viewport={"width": 1300, "height": 900}, offline=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    told: list[str] = []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    yield tab
    context.close()
    assert told == []
