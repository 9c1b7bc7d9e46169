"""Private namespaces for a test: what happens inside is all that is to be seen inside."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from tests.engine.launch import COMMAND, REPOSITORY

CELL = (
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--net",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
"""Root of a user namespace, alone with its own processes, mounts and network."""


def needed_folders() -> list[Path]:
    """The parts of the installed command: the checkout, its packages and the interpreter."""
    folders = {REPOSITORY, COMMAND.parents[1], Path(sys.base_prefix)}
    return sorted(folder.resolve() for folder in folders)


def shell(script: Iterable[str], words: Sequence[str | Path]) -> list[str]:
    """A shell that runs `script`, then `words`, and passes their status on.

    It stays, and so reaps what is left to it as the first process of a PID namespace.
    """
    lines = ["set -e", *script, 'status=0; "$@" || status=$?', "exit $status"]
    return ["sh", "-c", "\n".join(lines), "sh", *map(str, words)]


def cover(folder: Path, keep: Iterable[Path], options: str = "mode=1777") -> list[str]:
    """Lines that put an empty folder of memory over `folder`, with only `keep` still in it.

    The network and mount namespace must be private; `keep` may lie anywhere.
    """
    stage = "/mnt"
    lines = [f"mount -t tmpfs -o {options} tmpfs {stage}"]
    for kept in keep:
        if kept != folder and kept.is_relative_to(folder):
            inside = shlex.quote(f"{stage}/{kept.relative_to(folder)}")
            lines.append(f"mkdir -p {inside}")
            lines.append(f"mount --bind {shlex.quote(str(kept))} {inside}")
    return [*lines, f"mount --move {stage} {shlex.quote(str(folder))}"]


@cache
def cell_refused() -> str | None:
    """Why there are no cells here; null if there are."""
    try:
        tried = subprocess.run([*CELL, "true"], capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no `unshare` (util-linux)"
    return None if tried.returncode == 0 else f"no user namespaces: {tried.stderr.strip()}"


def is_root() -> bool:
    """Whether the tests run as root."""
    return os.geteuid() == 0
