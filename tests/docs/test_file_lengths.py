"""No source file is longer than can be read at once."""

import subprocess
from pathlib import Path

from tests.docs.pages import ROOT

MOST_LINES = 400


def sources() -> list[Path]:
    listed = ["git", "ls-files", "-z", "*.rs", "*.py"]
    told = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in told.split("\0") if name]


def test_no_source_file_is_above_the_limit() -> None:
    long = {
        file.relative_to(ROOT).as_posix()
        for file in sources()
        if file.is_file() and file.read_text(encoding="utf-8").count("\n") > MOST_LINES
    }
    assert long == set(), f"above {MOST_LINES} lines: divide them by topic"
