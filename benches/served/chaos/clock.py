"""A clock of a program that is stepped, and no other's: by a library that it is started with."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")


def built(folder: Path) -> Path | None:
    """The library; null where there is no compiler."""
    library = folder / "clock.so"
    try:
        words = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE)]
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return library


def environment(library: Path | None, file: Path) -> dict[str, str]:
    """Variables for a program whose clock is ahead by the seconds of a file."""
    if library is None:
        return {}
    return {"LD_PRELOAD": str(library), "CLOCK_OFFSET_FILE": str(file)}
