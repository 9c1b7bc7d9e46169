"""`enter`: a shell or a command inside a node of a run that goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from mptcplab.cli.errors import UserError
from mptcplab.engine.choice import EngineName
from mptcplab.engine.kernel.inside import GoneError, init_of, thread_of
from mptcplab.recording import Recording, RecordingError, Result, Status
from mptcplab.scenario.problem import did_you_mean


def enter_node(folder: Path, node: str, command: Sequence[str]) -> None:
    """Becomes the command; returns only by raising what went wrong."""
    recording = _running(folder)
    lab = recording.manifest.lab
    if lab is None:
        raise UserError(f"{folder}: nothing runs there; `mptcplab run` makes one that does")
    if recording.manifest.engine == EngineName.SIM:
        raise UserError(
            f"{folder}: a simulated run has no nodes to enter; run it with --engine kernel"
        )
    if node not in lab.nodes:
        raise UserError(f"{folder}: no node '{node}': {did_you_mean(node, lab.nodes)}")
    nsenter = shutil.which("nsenter")
    if nsenter is None:
        raise UserError("nsenter is missing: install util-linux")
    try:
        init = init_of(lab)
        thread = thread_of(init, lab.nodes[node])
    except GoneError as error:
        raise UserError(f"{folder}: the run has just ended") from error
    argv = [
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
        *(command or [os.environ.get("SHELL", "/bin/sh")]),
    ]
    os.execv(nsenter, argv)


def _has_own_users(process: int) -> bool:
    """True when the process lives in another user namespace than this one."""
    theirs, ours = (Path(f"/proc/{who}/ns/user").readlink() for who in (process, "self"))
    return theirs != ours


def _running(folder: Path) -> Recording:
    try:
        result = Result.open(folder)
        for variant in result.variants:
            for recording in result.recordings(variant.name):
                if recording.manifest.status is Status.RUNNING:
                    return recording
    except RecordingError as error:
        raise UserError(str(error)) from error
    raise UserError(f"{folder}: nothing runs there now; enter a result while it is being made")
