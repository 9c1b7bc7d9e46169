"""Files that a user names: opened without waiting, of bounded size, and never quoted.

A scenario can name further files, and root may run a scenario of another user: a message tells
where a file is wrong, and nothing of what stands in it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
LARGEST_YAML_BYTES = 128 * 1024
"""Of scenarios and the like, which people write."""
_PART_BYTES = 1 << 20


class FileError(Exception):
    """A file that cannot be used; the text says why, without the file's name and content."""


def read_bytes(path: Path, limit_bytes: int) -> bytes:
    """The content of a regular file; `/dev/stdin` is one where a regular file was redirected.

    Raises:
        FileError: there is none, it is no regular file, cannot be read, or is larger than
            `limit_bytes`.

    """
    try:
        # Opened without waiting: a pipe without a writer would block.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            return _content(file, limit_bytes)
        finally:
            os.close(file)
    except OSError as error:
        raise FileError(f"cannot be read ({error.strerror})") from None
    except ValueError:
        # A name with a zero byte.
        raise FileError("cannot be read (no file has such a name)") from None


def read_text(path: Path, limit_bytes: int, encoding: str = "utf-8") -> str:
    """As `read_bytes`, decoded.

    Raises:
        FileError: also where the content is not text in this encoding; tells the offset.

    """
    try:
        return read_bytes(path, limit_bytes).decode(encoding)
    except UnicodeDecodeError as error:
        raise FileError(f"is not text in {encoding.upper()} (byte {error.start})") from None


def _content(file: int, limit_bytes: int) -> bytes:
    mode = os.fstat(file).st_mode
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            raise FileError(f"cannot be read (it is {kind}: write its content into a file)")
    parts: list[bytes] = []
    size = 0
    while part := os.read(file, _PART_BYTES):
        size += len(part)
        if size > limit_bytes:
            raise FileError(f"larger than {_size(limit_bytes)}")
        parts.append(part)
    return b"".join(parts)


def _size(limit_bytes: int) -> str:
    for unit, unit_bytes in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if limit_bytes >= unit_bytes:
            return f"{limit_bytes // unit_bytes} {unit}"
    return f"{limit_bytes // 1024} KiB"
