"""Every link of the documentation leads somewhere."""

from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, anchors, links, name


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_exists(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: there is no {path}"
        assert target.is_relative_to(ROOT), f"{link}: leads out of the repository"
        if anchor:
            assert anchor in anchors(target), f"{link}: no such heading"


def test_every_page_can_be_reached_from_the_readme() -> None:
    readme = ROOT / "README.md"
    reached, waiting = {readme}, [readme]
    while waiting:
        page = waiting.pop()
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_file() and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert set(PAGES) <= reached
