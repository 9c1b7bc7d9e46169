"""`pause`, `resume`, `step-packet`, `queues`, `sockets`: a run on the kernel that stands still."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import typer

from mptcplab.cli.enter import running
from mptcplab.cli.errors import UserError
from mptcplab.cli.output import json_text
from mptcplab.engine.choice import EngineName
from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.command_socket import (
    Answer,
    HeldPacket,
    LinkQueue,
    SteppedPacket,
    send_command,
)
from mptcplab.engine.kernel.inside import GoneError, words_to_enter
from mptcplab.recording import Recording

SHOWN_PACKETS = 20
"""Of a direction of a link, in words; JSON has all."""
TIMERS_RUN_ON = "the kernel's TCP timers run on: what they send meanwhile waits in the links"
_PLACES = {"propagating": "arrives at", "sending": "sent at", "queued": "queued since"}
_SS = ("ss", "--tcp", "--mptcp", "--numeric", "--info", "--memory")


def pause_run(folder: Path) -> None:
    """Pauses a run."""
    answer = _command(folder, "pause")
    typer.echo(f"paused at {_seconds(answer)}: {TIMERS_RUN_ON}")


def resume_run(folder: Path) -> None:
    """Lets a paused run go on."""
    answer = _command(folder, "resume")
    if answer.paused_ns is None:
        raise UserError(f"{folder}: the run is not paused")
    typer.echo(f"goes on at {_seconds(answer)}, after {answer.paused_ns / 1e9:.1f} s")


def step_packets(folder: Path, packets: int, *, as_json: bool) -> None:
    """Lets packets of a paused run pass, and tells which."""
    answer = _command(folder, f"step {packets}")
    if as_json:
        packets_told = [one.model_dump(by_alias=True) for one in answer.stepped]
        typer.echo(json_text({"t_ns": answer.t_ns, "packets": packets_told}))
        return
    for one in answer.stepped:
        typer.echo(f"{_seconds(one)} {_way(one)}: {one.packet}")
    if not answer.stepped:
        typer.echo(f"{_seconds(answer)}: no packet is in a link")


def show_queues(folder: Path, *, as_json: bool) -> None:
    """Shows the packets in the links of a paused run."""
    answer = _command(folder, "packets")
    if as_json:
        links = [link.model_dump(by_alias=True) for link in answer.links]
        typer.echo(json_text({"t_ns": answer.t_ns, "links": links}))
        return
    typer.echo(f"paused at {_seconds(answer)}")
    for link in answer.links:
        for line in _packets(link):
            typer.echo(line)


def show_sockets(folder: Path, node: str | None) -> None:
    """Shows the TCP and MPTCP sockets of hosts of a run, as the kernel has them."""
    recording = _on_kernel(folder)
    lab = recording.manifest.lab
    if lab is None:
        raise UserError(f"{folder}: nothing runs there")
    if node is not None and node not in lab.nodes:
        raise UserError(f"{folder}: no node '{node}': it has {', '.join(lab.nodes)}")
    if shutil.which(_SS[0]) is None:
        raise UserError("ss is missing: install iproute2")
    for name in lab.nodes if node is None else [node]:
        try:
            words = words_to_enter(lab, name)
        except GoneError as error:
            raise UserError(f"{folder}: the run has just ended") from error
        except EngineError as error:
            raise UserError(str(error)) from error
        told = subprocess.run([*words, *_SS], capture_output=True, text=True, check=False)
        if told.returncode != 0:
            raise UserError(f"{name}: ss failed: {told.stderr.strip()}")
        typer.echo(f"{name}\n{told.stdout.rstrip()}")


def _command(folder: Path, words: str) -> Answer:
    try:
        return send_command(_on_kernel(folder).folder, words)
    except EngineError as error:
        raise UserError(f"{folder}: {error}") from error


def _on_kernel(folder: Path) -> Recording:
    recording = running(folder)
    if recording.manifest.engine == EngineName.SIM:
        raise UserError(
            f"{folder}: a simulated run cannot be paused; `mptcplab debug` stops one anywhere"
        )
    return recording


def _packets(link: LinkQueue) -> Iterator[str]:
    packets = link.packets
    yield f"{_way(link)}: {len(packets)} packets, {link.delivered_packets} delivered"
    for one in packets[:SHOWN_PACKETS]:
        yield f"  {_PLACES[one.place]} {_seconds(one)}, {one.ip_bytes} bytes: {one.packet}"
    if len(packets) > SHOWN_PACKETS:
        yield f"  … and {len(packets) - SHOWN_PACKETS} more; --json has all"


def _way(of: LinkQueue | SteppedPacket) -> str:
    return f"{of.link}, {of.source} to {of.to}"


def _seconds(of: Answer | HeldPacket | SteppedPacket) -> str:
    return f"{of.t_ns / 1e9:.6f} s"
