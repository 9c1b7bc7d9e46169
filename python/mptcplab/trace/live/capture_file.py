"""A capture that is written: pcapng, a section with the interfaces, times in nanoseconds."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from typing import NamedTuple

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER_MARK = 0x1A2B3C4D
_NAME, _RESOLUTION = 2, 9


class Packet(NamedTuple):
    """A frame as an interface saw it."""

    interface: int
    """Its number, in the order in which the file names them."""
    at_ns: int
    """Since the Unix epoch."""
    data: bytes
    """The bytes that were captured."""
    original_bytes: int
    """How many there were."""


class Described(NamedTuple):
    """An interface."""

    name: str
    link_type: int
    """Number in the registry of link-layer header types."""


class CaptureFile:
    """A new file. What was put stands in it whole: another one may read it meanwhile."""

    def __init__(self, path: Path, interfaces: Sequence[Described]) -> None:
        """Creates the file, which must not be there.

        Raises:
            OSError: it is there, or cannot be written.

        """
        # The payload of others is for the user alone who captures it.
        self._file = FileIO(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600))
        head = struct.pack("<IHHq", _BYTE_ORDER_MARK, 1, 0, -1)
        blocks = [_block(_SECTION, head)]
        blocks += [_block(_INTERFACE, _description(one)) for one in interfaces]
        self._file.write(b"".join(blocks))

    def put(self, packets: Sequence[Packet]) -> None:
        """Adds packets.

        Raises:
            OSError: they cannot be written.

        """
        blocks = memoryview(b"".join(_block(_PACKET, _packet(one)) for one in packets))
        while blocks:
            blocks = blocks[self._file.write(blocks) :]

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def _description(interface: Described) -> bytes:
    options = _option(_NAME, interface.name.encode()) + _option(_RESOLUTION, bytes([9]))
    return struct.pack("<HHI", interface.link_type, 0, 0) + options + bytes(4)


def _packet(packet: Packet) -> bytes:
    high, low = divmod(packet.at_ns, 2**32)
    fields = (packet.interface, high, low, len(packet.data), packet.original_bytes)
    return struct.pack("<IIIII", *fields) + packet.data


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, content: bytes) -> bytes:
    length = 12 + len(content) + -len(content) % 4
    ends = struct.pack("<I", length)
    return struct.pack("<I", kind) + ends + content + bytes(-len(content) % 4) + ends
