"""Finding the processes of a running lab, for those who want to enter it."""

from __future__ import annotations

import shutil
from pathlib import Path

from mptcplab.engine.job import EngineError
from mptcplab.recording import Lab


class GoneError(Exception):
    """The lab is not there any more."""


def words_to_enter(lab: Lab, node: str) -> list[str]:
    """The command line that runs what follows it inside a node: its network, processes, mounts.

    Raises:
        GoneError: the lab has ended.
        EngineError: the program that enters is missing.

    """
    nsenter = shutil.which("nsenter")
    if nsenter is None:
        raise EngineError("nsenter is missing: install util-linux")
    init = init_of(lab)
    thread = thread_of(init, lab.nodes[node])
    return [
        nsenter,
        f"--target={init}",
        *(["--user"] if _has_own_users(init) else []),
        "--mount",
        "--pid",
        f"--net=/proc/{init}/task/{thread}/ns/net",
        "--preserve-credentials",
        # Opened before the namespaces change: relative paths mean what they mean outside.
        "--wd=.",
        "--",
    ]


def _has_own_users(process: int) -> bool:
    """True when the process lives in another user namespace than this one."""
    try:
        theirs, ours = (Path(f"/proc/{who}/ns/user").readlink() for who in (process, "self"))
    except FileNotFoundError as error:
        raise GoneError from error
    return theirs != ours


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
