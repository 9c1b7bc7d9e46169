"""The explanation that a result's folder keeps."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab.explanation.told import Explanation
from mptcplab.recording import RecordingError
from mptcplab.recording.files import replace
from mptcplab.recording.manifest import LARGEST_FILE_BYTES
from mptcplab.user_file import FileError, read_bytes

FILE = "explanation.json"


def kept(folder: Path) -> Explanation | None:
    """The explanation that was kept in the folder of a result; null where none was.

    Raises:
        RecordingError: the file is damaged, or of another version.

    """
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        told = json.loads(read_bytes(file, LARGEST_FILE_BYTES))
        if told["format"] != 1:
            raise ValueError
        return Explanation.from_json(told)
    except FileError as error:
        raise RecordingError(f"{file}: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(
            f"{file}: is damaged: delete it, and explain the result again"
        ) from error


def keep(folder: Path, told: Explanation) -> None:
    """Keeps an explanation in the folder of its result, in the place of one that is kept there.

    Raises:
        RecordingError: it cannot be written.

    """
    text = json.dumps({"format": 1, **told.to_json()}, indent=2)
    replace(folder / FILE, text.encode() + b"\n")
