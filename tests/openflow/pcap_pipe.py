"""A named pipe that gets the frames of a port as a capture in the format of libpcap."""

import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path

_PIPE_BYTES = 1 << 20
"""The most that an ordinary user may ask for. The writer stops where a pipe is full."""
_FILE_HEADER_BYTES = 24
_RECORD = struct.Struct("=IIII")
"""Seconds, microseconds, bytes that follow, bytes of the frame."""


class PcapPipe:
    """The reader's end of a new pipe, which the writer can open at once."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(self._descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._bytes = b""
        self._is_begun = False

    def close(self) -> None:
        os.close(self._descriptor)

    def frames(self) -> Iterator[bytes]:
        """All frames that have been written since the last call."""
        self._read()
        if not self._is_begun and len(self._bytes) >= _FILE_HEADER_BYTES:
            self._bytes = self._bytes[_FILE_HEADER_BYTES:]
            self._is_begun = True
        at = 0
        while self._is_begun and len(self._bytes) >= at + _RECORD.size:
            _, _, length, _ = _RECORD.unpack_from(self._bytes, at)
            at += _RECORD.size
            yield self._bytes[at : at + length]
            at += length
        self._bytes = self._bytes[at:]

    def _read(self) -> None:
        try:
            while piece := os.read(self._descriptor, 1 << 20):
                self._bytes += piece
        except BlockingIOError:
            pass
