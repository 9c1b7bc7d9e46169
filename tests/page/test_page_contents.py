"""The list of contents of a page."""

from mptcplab.page.templates import MOST_SHOWN, Contents


def test_of_many_headings_the_contents_have_those_of_the_sections() -> None:
    contents = Contents()
    contents.section("first", "First")
    for number in range(MOST_SHOWN - 1):
        contents.add(f"part {number}")
    assert contents.shown == contents.entries
    contents.section("second", "Second")
    contents.add("part")
    assert [heading.title for heading in contents.shown] == ["First", "Second"]
