"""A temporary folder that is gone whenever a signal comes."""

import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TRIES = 50
_PAUSE_S = 0.02


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A new folder of this user alone, deleted in the end.

    Its name is known before it is there: `TemporaryDirectory` leaves it behind where a signal's
    handler raises an error between the two.
    """
    folder = Path(tempfile.gettempdir()) / f"{prefix}{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        for _ in range(_TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            # Processes that end may write on for a moment.
            time.sleep(_PAUSE_S)
