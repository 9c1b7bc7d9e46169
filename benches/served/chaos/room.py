"""Small disks in a mount namespace of their own, which a test fills up."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

_SCRIPT = """
set -e
cd "$1"; shift
for disk; do mount -t tmpfs -o size="${disk#*=}" tmpfs "${disk%%=*}"; done
echo ready
exec cat
"""
_FILLER = "filler"
_PIECE = bytes(64 << 10)


class Room:
    """A folder, with a disk of its own in each of some folders below."""

    def __init__(self, folder: Path, holder: int | None) -> None:
        self._folder = folder
        self._holder = holder

    @property
    def has_disks(self) -> bool:
        """Whether the system allows them."""
        return self._holder is not None

    def inside(self, name: str) -> str:
        """The path of a file for programs of `command`."""
        return str(self._folder / name)

    def outside(self, name: str) -> Path:
        """The path of a file for this process."""
        place = self._folder / name
        if self._holder is None:
            return place
        return Path(f"/proc/{self._holder}/root") / place.relative_to("/")

    def command(self, *words: str) -> list[str]:
        """A program that sees the disks, and ends with this thread."""
        bound = ["setpriv", "--pdeathsig", "KILL", *words]
        if self._holder is None:
            return bound
        entered = ["--user", "--mount", "--preserve-credentials", f"--target={self._holder}"]
        return ["nsenter", *entered, "--", *bound]

    def fill(self, disk: str) -> None:
        """Leaves no room on a disk."""
        with suppress(OSError):
            filler = os.open(self.outside(disk) / _FILLER, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                _write_all(filler)
            finally:
                os.close(filler)

    def free(self, disk: str) -> None:
        """Gives the room back."""
        (self.outside(disk) / _FILLER).unlink(missing_ok=True)


def _write_all(file: int) -> None:
    piece = _PIECE
    while piece:
        try:
            os.write(file, piece)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            piece = piece[: len(piece) // 2]


@contextmanager
def opened(folder: Path, disks: Mapping[str, str]) -> Iterator[Room]:
    """A room with disks of these sizes (`3m`) in these folders; without where it is not allowed."""
    for disk in disks:
        (folder / disk).mkdir(parents=True)
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _SCRIPT, "sh"]
    holder = subprocess.Popen(
        [*words, str(folder), *(f"{disk}={size}" for disk, size in disks.items())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        is_ready = holder.stdout.readline() == "ready\n"
        yield Room(folder, holder.pid if is_ready else None)
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
