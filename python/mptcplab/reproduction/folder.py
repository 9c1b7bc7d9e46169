"""The folder of a reproduction: in what manner it was made, and that one at a time writes it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mptcplab.recording import RecordingError
from mptcplab.recording.files import publish
from mptcplab.reproduction.manner import Manner

RECORDINGS = "recordings"
"""The folder of the results within that of a reproduction."""
MADE = "reproduction.json"
LOCK = "lock"


@contextmanager
def opened(out: Path, manner: Manner) -> Iterator[None]:
    """Makes the folder, or opens it again, and keeps others out of it while this lasts.

    Raises:
        RecordingError: it holds something else, or what was made in another manner, or another
            reproduction goes on in it.

    """
    told = manner.told()
    try:
        is_new = not out.exists() or (out.is_dir() and _is_blank(out))
        if not is_new:
            _compare(out, told)
        (out / RECORDINGS).mkdir(parents=True, exist_ok=True)
        lock = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise RecordingError(f"{out}: cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_new:
            publish(out / MADE, json.dumps(told, indent=1).encode())
        yield
    except BlockingIOError:
        raise RecordingError(
            f"{out}: another reproduction goes on in this folder: wait for its end"
        ) from None
    finally:
        os.close(lock)


def _is_blank(out: Path) -> bool:
    """Whether a folder is empty, or was left by a command that was killed as it began."""
    return {path.name for path in out.iterdir()} <= {RECORDINGS, LOCK} and not any(
        (out / RECORDINGS).glob("*")
    )


def _compare(out: Path, told: dict[str, object]) -> None:
    """Refuses a folder of something else, or of another manner."""
    path = out / MADE
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(made, dict):
            raise ValueError("it holds no object")
    except (FileNotFoundError, NotADirectoryError):
        raise RecordingError(f"{out}: holds no {MADE}: choose another folder") from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: cannot be read: {error}") from None
    for key, value in told.items():
        if made.get(key) != value:
            raise RecordingError(
                f"{out}: was made with {key} {made.get(key)}, not {value}: choose another folder"
            )
