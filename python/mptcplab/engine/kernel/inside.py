"""Finding the processes of a running lab, for those who want to enter it."""

from __future__ import annotations

from pathlib import Path

from mptcplab.recording import Lab


class GoneError(Exception):
    """The lab is not there any more."""


def init_of(lab: Lab) -> int:
    """The first process inside the lab's namespaces, by its id out here.

    Raises:
        GoneError: the lab has ended.

    """
    try:
        children = Path(f"/proc/{lab.pid}/task/{lab.pid}/children").read_text().split()
    except OSError as error:
        raise GoneError from error
    if not children:
        raise GoneError
    return int(children[0])


def thread_of(init: int, thread: int) -> int:
    """The id out here of a thread that the lab knows as `thread`.

    Raises:
        GoneError: the lab has ended.

    """
    try:
        for task in Path(f"/proc/{init}/task").iterdir():
            inner = _inner_id(task / "status")
            if inner == thread:
                return int(task.name)
    except OSError as error:
        raise GoneError from error
    raise GoneError


def _inner_id(status: Path) -> int | None:
    for line in status.read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return None
