"""Description of the captures that were read: `capture.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mptcplab.trace.errors import TraceError


@dataclass(frozen=True)
class Damage:
    """Where a file ends to be readable."""

    offset: int
    """Byte, from 0."""
    decompressed: bool
    """It counts what the file holds decompressed."""
    message: str

    @property
    def place(self) -> str:
        """The place in words."""
        after = " after decompression" if self.decompressed else ""
        return f"byte {self.offset}{after}"


@dataclass(frozen=True)
class File:
    """One file of a capture."""

    path: str
    format: str
    """`pcap` or `pcapng`."""
    compression: str | None
    """`gzip`, `zstd`, `xz`, `bzip2` or `lz4`."""
    bytes: int
    """Bytes that were read."""
    frames: int
    first_ns: int | None
    last_ns: int | None
    damage: Damage | None


@dataclass(frozen=True)
class Interface:
    """One interface of a capture."""

    interface: int
    file: int | None
    name: str | None
    link_type: int
    """LINKTYPE_ of the registry of link-layer header types: 1 is Ethernet."""


@dataclass(frozen=True)
class Capture:
    """All that was read."""

    files: tuple[File, ...]
    interfaces: tuple[Interface, ...]
    interrupted: bool
    """Reading was ended before the end of the files."""
    frames: int
    segments: int
    """Frames that held a segment of TCP."""
    skipped: dict[str, int]
    """How many frames were left out, by reason."""
    unknown_link_types: dict[str, int]
    """Frames of link types that are not known, by name and number of the type."""
    layers: dict[str, int]
    """Segments within tunnels or tags, by the headers around them, the outermost first."""
    duplicates: int
    """Segments that were seen on another interface before."""
    as_read: dict[str, Any]
    """The object of `capture.json`."""

    @property
    def first_ns(self) -> int:
        """Time of the first frame: the zero of all relative times; 0 if there is none."""
        return min((file.first_ns for file in self.files if file.first_ns is not None), default=0)

    @property
    def last_ns(self) -> int:
        """Time of the last frame; 0 if there is none."""
        return max((file.last_ns for file in self.files if file.last_ns is not None), default=0)

    @property
    def damaged(self) -> bool:
        """Whether a file could be read up to a place only."""
        return any(file.damage is not None for file in self.files)


def capture_from(content: str, origin: str) -> Capture:
    """Returns the capture that a text of JSON describes.

    Raises:
        TraceError: the text is not that of `capture.json`; names `origin`.

    """
    try:
        found = json.loads(content)
        return Capture(
            files=tuple(_file(one) for one in found["files"]),
            interfaces=tuple(_interface(one) for one in found["interfaces"]),
            interrupted=bool(found["interrupted"]),
            frames=int(found["frames"]),
            segments=int(found["segments"]),
            skipped=_counts(found["skipped"]),
            unknown_link_types=_counts(found.get("unknown_link_types", {})),
            layers=_counts(found.get("layers", {})),
            duplicates=int(found["duplicates"]),
            as_read=found,
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TraceError(f"{origin}: not the description of an analysis") from error


def _counts(found: dict[str, Any]) -> dict[str, int]:
    return {str(what): int(count) for what, count in found.items()}


def _file(found: dict[str, Any]) -> File:
    damage = found["damage"]
    return File(
        path=str(found["path"]),
        format=str(found["format"]),
        compression=found["compression"],
        bytes=int(found["bytes"]),
        frames=int(found["frames"]),
        first_ns=found["first_ns"],
        last_ns=found["last_ns"],
        damage=None
        if damage is None
        else Damage(int(damage["offset"]), bool(damage["decompressed"]), str(damage["message"])),
    )


def _interface(found: dict[str, Any]) -> Interface:
    return Interface(
        interface=int(found["interface"]),
        file=found["file"],
        name=found["name"],
        link_type=int(found["link_type"]),
    )
