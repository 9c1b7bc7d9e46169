"""Archives and some checkouts turn a symbolic link into a file of its name."""

from tests.docs.sources import links


def test_no_file_is_a_link() -> None:
    assert links() == []
