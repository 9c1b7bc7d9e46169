"""Content that the FTP server and client carry, and their lines about it for the lab process.

Times are of the monotonic clock, in nanoseconds; the lab process knows its zero.
"""

import json
import random
from time import monotonic_ns
from typing import Any

USER = PASSWORD = "lab"

BLOCK_BYTES = 65_536
"""Read and written at most at once."""

PERIOD_BYTES = 65_521
"""Period of the content: a prime, so that data shifted by whole segments does not match."""

_FLUSH_COUNT = 64
_FLUSH_NS = 100_000_000


def tell(event: str, **fields: Any) -> None:
    """Print one event for the lab process."""
    print(json.dumps({"event": event, **fields}, separators=(",", ":")), flush=True)


class Content:
    """The bytes of a file, from a seed."""

    def __init__(self, seed: int) -> None:
        self._bytes = random.Random(seed).randbytes(PERIOD_BYTES) * 2

    def part(self, offset: int, limit: int) -> bytes:
        """Give the bytes from `offset`: at most `limit`, at most one period."""
        start = offset % PERIOD_BYTES
        return self._bytes[start : start + min(limit, PERIOD_BYTES)]

    def first_difference(self, offset: int, received: bytes) -> int | None:
        """Find where, from `offset` on, `received` is not the content."""
        place = 0
        while place < len(received):
            expected = self.part(offset + place, len(received) - place)
            got = received[place : place + len(expected)]
            if got != expected:
                wrong = next(
                    i for i, (a, b) in enumerate(zip(got, expected, strict=True)) if a != b
                )
                return offset + place + wrong
            place += len(expected)
        return None


class Receiver:
    """The receiving application of one file."""

    def __init__(self, index: int, content: Content) -> None:
        self._index = index
        self._content = content
        self._bytes = 0
        self._wrong: int | None = None
        self._deliveries: list[tuple[int, int]] = []

    def take(self, data: bytes) -> None:
        """Account for a part that has just come."""
        now = monotonic_ns()
        if self._wrong is None:
            self._wrong = self._content.first_difference(self._bytes, data)
        self._bytes += len(data)
        self._deliveries.append((now, len(data)))
        if len(self._deliveries) == _FLUSH_COUNT or now - self._deliveries[0][0] > _FLUSH_NS:
            self._flush()

    def finish(self) -> None:
        """Tell that the file has ended."""
        if self._bytes:
            self._flush()
            tell("received", index=self._index, wrong=self._wrong)

    def _flush(self) -> None:
        if self._deliveries:
            tell("delivered", index=self._index, deliveries=self._deliveries)
            self._deliveries = []
