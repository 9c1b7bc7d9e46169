"""The page of a result in a browser: what a reader does with pointer, keys and links."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.page.opened import ends_s, grave, opened, plot

THROUGHPUT = "result-1-plot-throughput-3"
"""The panel of the third variant, over two paths."""
QUEUES = "result-1-plot-queues-3"
PAYLOAD = "result-1-plot-rtt-by-payload-3"


@pytest.fixture
def shown(tab: Page, text: str, tmp_path: Path) -> Page:
    opened(tab, text, tmp_path)
    return tab


def test_the_wheel_zooms_all_charts_over_time_and_no_other(shown: Page) -> None:
    whole = ends_s(shown, THROUGHPUT) if plot(shown, THROUGHPUT) else (0, 0)
    plot(shown, PAYLOAD)
    others = ends_s(shown, PAYLOAD)
    over = plot(shown, THROUGHPUT)
    over.hover()
    for _ in range(4):
        shown.mouse.wheel(0, -100)
    shown.wait_for_timeout(100)
    low, high = ends_s(shown, THROUGHPUT)
    assert high - low == pytest.approx((whole[1] - whole[0]) * 0.75**4, rel=0.01)
    assert (low + high) / 2 == pytest.approx(sum(whole) / 2, abs=0.2)
    plot(shown, QUEUES)
    assert ends_s(shown, QUEUES) == (low, high)
    assert ends_s(shown, PAYLOAD) == others
    shown.locator("#result-1-plot-queues button.whole").click()
    assert ends_s(shown, THROUGHPUT) == whole


def test_a_drag_zooms_and_a_double_click_shows_all(shown: Page) -> None:
    over = plot(shown, THROUGHPUT)
    whole = ends_s(shown, THROUGHPUT)
    box = over.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    shown.mouse.move(box["x"] + box["width"] / 4, middle)
    shown.mouse.down()
    shown.mouse.move(box["x"] + box["width"] / 2, middle, steps=5)
    shown.mouse.up()
    assert ends_s(shown, THROUGHPUT) == pytest.approx((whole[1] / 4, whole[1] / 2), abs=0.1)
    over.dblclick()
    assert ends_s(shown, THROUGHPUT) == whole


def test_the_pointer_is_told_values_with_their_units(shown: Page) -> None:
    over = plot(shown, THROUGHPUT)
    box = over.bounding_box()
    assert box is not None
    # At 10 s, when Ethernet has failed.
    over.hover(position={"x": box["width"] / 2 + 3, "y": 40})
    told = shown.locator(f"#{THROUGHPUT} .hover").inner_text().splitlines()
    assert told[0].startswith("time 10")
    assert told[0].endswith(" s")
    assert told[1].startswith("wifi: 4")
    assert told[1].endswith(" Mbit/s")
    assert told[2] == "eth: 0 Mbit/s"


def test_a_legend_hides_a_series_in_all_panels(shown: Page) -> None:
    over = plot(shown, THROUGHPUT)
    entry = shown.locator("#result-1-plot-throughput .legend button", has_text="wifi")
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false"
    over.hover()
    assert "wifi" not in shown.locator(f"#{THROUGHPUT} .hover").inner_text()
    entry.click()
    assert entry.get_attribute("aria-pressed") == "true"


def test_bins_are_as_wide_as_is_set(shown: Page) -> None:
    plot(shown, THROUGHPUT)
    shown.locator("#result-1-plot-throughput select").select_option("10 s")
    over = plot(shown, THROUGHPUT)
    over.hover()
    # 5 of the second 10 s at 90 Mbit/s, headers included; and all of the first ones but two.
    told = shown.locator(f"#{THROUGHPUT} .hover").inner_text()
    eth = float(told.partition("eth: ")[2].partition(" ")[0])
    assert 60 < eth < 80


def test_a_chart_is_read_with_the_keyboard(shown: Page) -> None:
    plot(shown, THROUGHPUT)
    shown.locator(f"#{THROUGHPUT} .live").focus()
    whole = ends_s(shown, THROUGHPUT)
    shown.keyboard.press("+")
    shown.keyboard.press("ArrowRight")
    low, high = ends_s(shown, THROUGHPUT)
    assert high - low == pytest.approx((whole[1] - whole[0]) * 0.75, rel=0.01)
    assert "Mbit/s" in shown.locator("#result-1-plot-throughput [role=status]").inner_text()
    shown.keyboard.press("Shift+ArrowRight")
    assert ends_s(shown, THROUGHPUT)[0] > low
    shown.keyboard.press("0")
    assert ends_s(shown, THROUGHPUT) == whole


def test_events_and_their_rows_link_to_each_other(shown: Page) -> None:
    plot(shown, THROUGHPUT)
    mark = shown.locator(f"#{THROUGHPUT} a.mark", has_text="eth is back")
    mark.click()
    assert shown.url.endswith("#result-1-event-2")
    row = shown.locator(":target")
    assert "eth is back" in row.inner_text()
    row.locator("a").click()
    assert shown.url.endswith("#result-1-plot-throughput")
    plot(shown, THROUGHPUT)
    low, high = ends_s(shown, THROUGHPUT)
    assert (low + high) / 2 == pytest.approx(12, abs=0.1)
    assert high - low == pytest.approx(2, abs=0.2)


def test_the_contents_and_the_rows_lead_to_sections(shown: Page) -> None:
    shown.locator("nav.contents a", has_text="Queues").click()
    assert shown.locator(":target").inner_text() == "Queues"
    shown.locator("td a", has_text="tcp-eth").first.click()
    assert shown.locator(":target .title").inner_text() == "tcp-eth"


def test_a_table_is_sorted_filtered_and_copied(shown: Page) -> None:
    heading = shown.locator("h2", has_text="Variants")
    table = heading.locator("xpath=following::table[1]")
    goodput = table.locator("th button").nth(2)
    goodput.click()
    names = "tbody td:first-child"
    assert table.locator(names).all_inner_texts() == ["tcp-wifi", "tcp-eth", "mptcp"]
    goodput.click()
    assert table.locator(names).all_inner_texts() == ["mptcp", "tcp-eth", "tcp-wifi"]
    assert table.locator("th").nth(2).get_attribute("aria-sort") == "descending"
    heading.locator("xpath=following::button[contains(@class, 'copy')][1]").click()
    copied = shown.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[0].startswith("variant,protocol,goodput Mbit/s,")
    assert copied[1].startswith("mptcp,mptcp,109.5 ± 2.5,")
    shown.locator("summary", has_text="Every metric").click()
    many = shown.locator("h3", has_text="mptcp").locator("xpath=following::table[1]")
    shown.locator("input[type=search]").last.fill("goodput")
    rows = many.locator("tbody tr:visible").all_inner_texts()
    assert rows
    assert all("goodput" in row for row in rows)


def test_a_chart_is_copied_whole(shown: Page) -> None:
    shown.locator("#result-1-plot-rtt button.copy").first.click()
    copied = shown.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[0] == "panel,series,time,RTT"
    assert copied[1].startswith("tcp-wifi,wifi,0.1,")
    assert len(copied) > 3 * 190


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, "light"), (800, "dark"), (1300, "light"), (1300, "dark")]
)
def test_nothing_is_cut_and_nothing_hard_to_read(shown: Page, width: int, scheme: str) -> None:
    shown.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    shown.set_viewport_size({"width": width, "height": 900})
    plot(shown, THROUGHPUT)
    shown.wait_for_function("most => document.documentElement.scrollWidth <= most", arg=width)
    assert grave(shown) == []


def test_without_a_script_and_in_print_drawings_stand_in_the_place_of_charts(
    browser: Browser, shown: Page, tmp_path: Path
) -> None:
    assert not shown.locator("svg.drawn").first.is_visible()
    shown.emulate_media(media="print")
    assert shown.locator("svg.drawn").first.is_visible()
    assert not shown.locator(".live").first.is_visible()
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto((tmp_path / "page.html").as_uri())
    assert plain.locator("svg.drawn").first.is_visible()
    assert not plain.locator(".live").first.is_visible()
    context.close()


def test_no_script_runs_that_comes_with_data(tab: Page, text: str, tmp_path: Path) -> None:
    evil = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"
    file = tmp_path / "evil.html"
    file.write_text(text.replace("</main>", f"{evil}</main>"), encoding="utf-8")
    refused: list[str] = []
    own = tab.context.new_page()
    own.on("console", lambda message: refused.append(message.text))
    own.goto(file.as_uri())
    own.wait_for_selector("html[data-ready]", state="attached")
    assert own.title() == "test/hand – mptcplab"
    assert any("Content Security Policy" in line for line in refused)
