"""An ordinary user, whoever runs the tests."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engine.cell import cover, is_root, needed_folders, shell

NOBODY = 65534


def ordinary_user() -> list[str]:
    """Words before a command that is to run as an ordinary user; the interpreter may lie in a
    folder of root's, of which only what is needed is then opened, in a private mount namespace."""
    if not is_root():
        return []
    closed = {
        parent: [other for other in needed_folders() if other.is_relative_to(parent)]
        for folder in needed_folders()
        for parent in folder.parents
        if not parent.stat().st_mode & 0o001
    }
    outermost = [one for one in closed if not any(parent in closed for parent in one.parents)]
    covers = [line for folder in outermost for line in cover(folder, closed[folder], "mode=0755")]
    ids = f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"
    return ["unshare", "--mount", *shell(covers, ["setpriv", *ids])]


@contextmanager
def folder_for_user() -> Iterator[Path]:
    """A folder that an ordinary user can come to; pytest's own is closed to others."""
    made = Path(tempfile.mkdtemp(prefix="mptcplab-user-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def give(folder: Path) -> None:
    """Makes a folder and all that is in it the ordinary user's."""
    if is_root():
        for file in (folder, *folder.rglob("*")):
            shutil.chown(file, NOBODY, NOBODY)
