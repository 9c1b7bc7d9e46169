"""The server's dashboard in a browser, over TLS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tests.page.opened import grave, plot
from tests.server.made import CONTACT
from tests.server.running import Agent, Running, started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with started(tmp_path_factory.mktemp("dashboard") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def agent(server: Running) -> Agent:
    """An agent with some results of the last hours."""
    made = server.enrolled(name="<b>car</b>")
    now_ms = made.contact(CONTACT | {"next_sequence": 6}).json["now_unix_ms"]
    for number in range(6):
        began = now_ms - (6 - number) * 3_600_000
        control = ("bbr", "reno")[number % 2]
        made.put(made.result(began_unix_ms=began, congestion_control=control))
    return made


@pytest.fixture
def tab(browser: Browser, server: Running) -> Iterator[Page]:
    """A page that is signed in, and tells of every error."""
    context = browser.new_context(ignore_https_errors=True, viewport={"width": 1300, "height": 900})
    tab = context.new_page()
    told: list[str] = []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.goto(address(server))
    assert grave(tab) == []
    tab.keyboard.type(server.token("viewer"))
    tab.keyboard.press("Enter")
    tab.wait_for_selector("h1:has-text('Agents')")
    yield tab
    context.close()
    assert told == []


def address(server: Running, path: str = "/") -> str:
    return f"https://127.0.0.1:{server.port}{path}"


def shown(tab: Page, server: Running, path: str) -> None:
    tab.goto(address(server, path))
    tab.wait_for_selector("html[data-ready]", state="attached")


def test_from_the_fleet_to_a_result_and_out(tab: Page, server: Running, agent: Agent) -> None:
    shown(tab, server, "/")
    tab.locator("a", has_text="<b>car</b>").click()
    assert tab.url.endswith(agent.id)
    plot(tab, "goodput-1")
    tab.locator("#goodput-1 .live").focus()
    tab.keyboard.press("n")
    told = tab.locator("#goodput-1 .hover").inner_text()
    assert "UTC" in told
    assert "TCP wifi: 8 Mbit/s" in told
    tab.locator("td.name a").first.click()
    assert "Is MPTCP worth it" in tab.locator("h1").inner_text()
    tab.get_by_role("button", name="Sign out").click()
    tab.wait_for_selector("#token")


@pytest.mark.parametrize(("width", "dark"), [(400, True), (800, False), (1300, True)])
def test_pages_are_whole_and_readable(
    tab: Page, server: Running, agent: Agent, width: int, dark: bool
) -> None:
    tab.emulate_media(color_scheme="dark" if dark else "light")
    tab.set_viewport_size({"width": width, "height": 900})
    for path in ("/", f"/agents/{agent.id}", "/plans"):
        shown(tab, server, path)
        tab.wait_for_function("most => document.documentElement.scrollWidth <= most", arg=width)
        assert grave(tab) == []


def test_the_style_needs_no_other_file(tab: Page, server: Running, agent: Agent) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    shown(tab, server, f"/agents/{agent.id}")
    assert all(url.startswith(address(server)) for url in asked)
