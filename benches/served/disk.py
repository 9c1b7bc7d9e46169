"""How often a disk has what was written: the rate of fsync."""

from __future__ import annotations

import os
import time
from pathlib import Path

_BLOCK = bytes(4_096)


def syncs_per_s(folder: Path, seconds: float) -> float:
    """Writes of a block to the end of a file, each waited for until it is on the disk."""
    place = folder / "fsync"
    file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    count = 0
    began = time.monotonic()
    try:
        while time.monotonic() - began < seconds:
            os.write(file, _BLOCK)
            os.fdatasync(file)
            count += 1
    finally:
        os.close(file)
        place.unlink()
    return count / (time.monotonic() - began)
