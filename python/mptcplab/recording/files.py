"""Files that appear whole or not at all, whatever kills the writer."""

import errno
import os
from pathlib import Path

from mptcplab.recording.errors import RecordingError

_NO_UNNAMED_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL}


def publish(path: Path, content: bytes) -> None:
    """Makes the file ``path`` with ``content``; it has no name before it is complete.

    The content goes to an unnamed file (``O_TMPFILE``, open(2)), which is then linked into its
    folder: if the process is killed before that, the kernel frees the unnamed file. Where the
    file system has no unnamed files (NFS, some network mounts), a file with the suffix
    ``.part`` is renamed instead; there a kill may leave that one behind.

    Raises:
        RecordingError: the file exists already, or cannot be written.

    """
    try:
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    except OSError as error:
        raise RecordingError(f"{path.parent}: {error.strerror}") from error
    try:
        if not _publish_unnamed(folder, path.name, content):
            _publish_renamed(path, content)
    except FileExistsError as error:
        raise RecordingError(
            f"{path}: exists already; recordings are never overwritten: choose another folder"
        ) from error
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        os.close(folder)


def replace(path: Path, content: bytes) -> None:
    """Makes the file ``path`` with ``content``, in the place of one that is there, at once.

    A kill may leave a file with the suffix ``.part`` behind.

    Raises:
        RecordingError: it cannot be written.

    """
    part = path.with_name(f"{path.name}.part")
    try:
        try:
            part.write_bytes(content)
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror}") from error


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk.

    Raises:
        RecordingError: they cannot be written.

    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror}") from error


def _publish_unnamed(folder: int, name: str, content: bytes) -> bool:
    try:
        file = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o644, dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_UNNAMED_FILES:
            return False
        raise
    try:
        _write_all(file, content)
        os.link(f"/proc/self/fd/{file}", name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(file)
    return True


def _publish_renamed(path: Path, content: bytes) -> None:
    if path.exists():
        raise FileExistsError(path)
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def _write_all(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]
