"""`enter`: a shell or a command inside a node of a run that goes on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mptcplab.cli.errors import UserError
from mptcplab.engine.choice import EngineName
from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.inside import GoneError, words_to_enter
from mptcplab.recording import Recording, RecordingError, Result, Status
from mptcplab.recording.manifest import RUNNING
from mptcplab.scenario.problem import did_you_mean


def enter_node(folder: Path, node: str, command: Sequence[str]) -> None:
    """Becomes the command; returns only by raising what went wrong."""
    recording = running(folder)
    lab = recording.manifest.lab
    if lab is None:
        raise UserError(f"{folder}: nothing runs there; `mptcplab run` makes one that does")
    if recording.manifest.engine == EngineName.SIM:
        raise UserError(
            f"{folder}: a simulated run has no nodes to enter; run it with --engine kernel"
        )
    if node not in lab.nodes:
        raise UserError(f"{folder}: no node '{node}': {did_you_mean(node, lab.nodes)}")
    try:
        entering = words_to_enter(lab, node)
    except GoneError as error:
        raise UserError(f"{folder}: the run has just ended") from error
    except EngineError as error:
        raise UserError(str(error)) from error
    argv = [*entering, *(command or [os.environ.get("SHELL", "/bin/sh")])]
    os.execv(argv[0], argv)


def running(folder: Path) -> Recording:
    """The recording in a result's folder that is being made, or the one whose folder this is."""
    try:
        if (folder / RUNNING).exists():
            return Recording.open(folder)
        result = Result.open(folder)
        for variant in result.variants:
            for recording in result.recordings(variant.name):
                if recording.manifest.status is Status.RUNNING:
                    return recording
    except RecordingError as error:
        raise UserError(str(error)) from error
    raise UserError(f"{folder}: nothing runs there now; enter a result while it is being made")
