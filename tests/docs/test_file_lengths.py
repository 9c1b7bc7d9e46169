"""No source file is longer than can be read at once."""

from tests.docs.pages import ROOT
from tests.docs.sources import sources

MOST_LINES = 400


def test_no_source_file_is_above_the_limit() -> None:
    files = sources(".rs", ".py")
    assert len(files) > 500
    long = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if file.read_text(encoding="utf-8").count("\n") > MOST_LINES
    }
    assert long == set(), f"above {MOST_LINES} lines: divide them by topic"
