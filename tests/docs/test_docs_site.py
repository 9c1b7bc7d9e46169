"""The folder of the documentation site: every page has a place, and links lead on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, links, name
from tests.docs.site import folder as folder_module
from tests.docs.site.built import loaded, loaded_by_page
from tests.docs.site.folder import make_folder
from tests.docs.site.gallery import _escaped


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    make_folder(made, "lisbon/A*")
    return made / "pages"


def test_every_link_of_every_page_leads_to_a_file(pages: Path) -> None:
    found = sorted(pages.rglob("*.md"))
    assert {name(page) for page in PAGES} < {page.relative_to(pages).as_posix() for page in found}
    for page in found:
        for link in links(page):
            path = link.partition("#")[0]
            if path and "://" not in path:
                assert (page.parent / path).resolve().is_file(), f"{page}: {link}"


def test_a_scenario_has_a_page_with_its_picture(pages: Path) -> None:
    page = (pages / "gallery/lisbon/A1.md").read_text()
    for part in (
        "# lisbon/A1",
        "![Network of lisbon/A1](A1.svg)",
        "| `tcp-wifi` | tcp |",
        "- runs on the engine `kernel`",
        "- `mptcp.multipath == 1`",
        "name: lisbon/A1",
    ):
        assert part in page
    assert (pages / "gallery/lisbon/A1.svg").read_text().startswith("<svg")
    assert "[![Network of lisbon/A1](lisbon/A1.svg)" in (pages / "gallery/README.md").read_text()


def test_a_page_without_a_place_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "MEASURED", ())
    with pytest.raises(ValueError, match=r"docs/benchmarks\.md.*: no place in the site"):
        make_folder(tmp_path / "site", "lisbon/A1")


def test_words_of_scenarios_are_words_in_pages() -> None:
    assert _escaped("a <b>\n *c* `d*e` | f") == "a \\<b\\> \\*c\\* `d*e` \\| f"
    assert _escaped("one ` alone_") == "one \\` alone\\_"


def test_the_site_loads_nothing_from_elsewhere() -> None:
    for file in (ROOT / "packaging/site").iterdir():
        assert "://" not in file.read_text(), file


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://host.invalid/a.js"></script>',
        "<img alt='' src=//host.invalid/a.png>",
        '<img srcset="a.png 1x, https://host.invalid/a.png 2x">',
        '<link rel="stylesheet" href="https://host.invalid/a.css">',
        "<style>@import 'https://host.invalid/a.css';</style>",
        '<p style="background: url(https://host.invalid/a.png)">',
    ],
)
def test_what_a_page_would_load_from_elsewhere_is_found(text: str) -> None:
    [address] = loaded_by_page(f"<p>{text}</p>")
    assert address.partition("//")[2].startswith("host.invalid/a.")


def test_a_link_to_elsewhere_loads_nothing() -> None:
    canonical = '<link rel="canonical" href="https://host.invalid/">'
    own = '<script src="a.js"></script><img src="data:image/png;base64,//aa">'
    shown = '<a href="https://host.invalid/">url(https://host.invalid/)</a>'
    assert loaded_by_page(canonical + own + shown) == []


def test_files_of_a_site_are_named_with_what_they_load(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "index.html").write_text('<a href="https://host.invalid/">host</a>')
    (tmp_path / "in/a.css").write_text("a { background: url(a.png) }")
    assert list(loaded(tmp_path)) == []
    (tmp_path / "in/a.css").write_text('@font-face { src: url("//host.invalid/a.woff2") }')
    assert list(loaded(tmp_path)) == [(tmp_path / "in/a.css", "//host.invalid/a.woff2")]


def test_locked_packages_are_pinned_as_the_makefile_pins_them() -> None:
    recipes = (ROOT / "Makefile").read_text().splitlines()
    for file in sorted(ROOT.glob("requirements*.lock")):
        command = file.read_text().splitlines()[1].removeprefix("#").strip()
        assert f"\t{command}" in recipes, file
