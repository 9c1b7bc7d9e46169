"""Sources of `trace`: files, kept tables, and folders of captures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mptcplab.cli.errors import UserError

FORMATS = (".pcap", ".pcapng", ".cap")
COMPRESSIONS = ("", ".gz", ".zst", ".xz", ".bz2", ".lz4")
ENDINGS = tuple(form + compression for form in FORMATS for compression in COMPRESSIONS)
"""Suffixes of captures in folders; those of files that are named may be any."""

TABLES_FILE = "capture.json"
RECORDING_FILE = "manifest.json"


@dataclass(frozen=True)
class Source:
    """One capture: files that belong together, or a folder of tables."""

    files: tuple[str, ...]
    tables: Path | None = None


@dataclass(frozen=True)
class Sources:
    """The capture that is analysed, and that of the other end."""

    here: Source
    there: Source | None
    same_clock: bool
    """One machine made both in one recording."""


def sources(files: Sequence[str], peer: Sequence[str]) -> Sources:
    """Returns the files that the arguments name.

    A folder stands for the tables in it, else for all captures in it. A recording's folder of which
    two hosts have captures stands for both ends: that of the host which the scenario names first,
    and that of the other.

    Raises:
        UserError: a folder has neither tables nor captures, or captures of more than two hosts.

    """
    if len(files) == 1 and not peer:
        both = _both_ends(Path(files[0]))
        if both is not None:
            return both
    here, there = _source(files), _source(peer) if peer else None
    recordings = {_recording(source) for source in (here, there) if source is not None}
    return Sources(here, there, same_clock=len(recordings) == 1 and None not in recordings)


def _source(arguments: Sequence[str]) -> Source:
    folders = [Path(one) for one in arguments if one != "-" and Path(one).is_dir()]
    if len(arguments) == 1 and folders and (folders[0] / TABLES_FILE).is_file():
        return Source(tuple(arguments), folders[0])
    files: list[str] = []
    for one in arguments:
        if Path(one) in folders:
            files += [str(path) for path in _captures(Path(one))]
        else:
            files.append(one)
    return Source(tuple(files))


def _captures(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.name.endswith(ENDINGS))
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from error
    if not found:
        hint = ": run with --capture" if (folder / RECORDING_FILE).is_file() else ""
        raise UserError(
            f"{folder}: holds neither the tables of an analysis ({TABLES_FILE}) nor captures "
            f"(*{', *'.join(FORMATS)}, also compressed){hint}"
        )
    return found


def _both_ends(folder: Path) -> Sources | None:
    """Both ends of a recording's folder, without tables, that has captures of two hosts."""
    if not (folder / RECORDING_FILE).is_file() or (folder / TABLES_FILE).is_file():
        return None
    by_host: dict[str, list[str]] = {}
    hosts = _hosts(folder)
    for path in _captures(folder):
        owners = [host for host in hosts if path.name.startswith(f"{host}-")]
        by_host.setdefault(max(owners, key=len, default=""), []).append(str(path))
    found = [host for host in hosts if host in by_host]
    if len(found) > 2:
        raise UserError(
            f"{folder}: holds captures of {', '.join(found)}: name the files of one of them, and "
            "those of another one by --peer"
        )
    if len(found) < 2 or "" in by_host:
        return None
    here, there = (Source(tuple(by_host[host])) for host in found)
    return Sources(here, there, same_clock=True)


def _hosts(recording: Path) -> list[str]:
    """The nodes of a recording, in the order of the scenario; none where it does not tell."""
    try:
        manifest = json.loads((recording / RECORDING_FILE).read_text(encoding="utf-8"))
        return [str(node["name"]) for node in manifest["plan"]["nodes"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _recording(source: Source) -> Path | None:
    """The recording whose captures these all are."""
    folders = {Path(file).resolve().parent for file in source.files if file != "-"}
    if source.tables is not None or "-" in source.files or len(folders) != 1:
        return None
    folder = folders.pop()
    return folder if (folder / RECORDING_FILE).is_file() else None
