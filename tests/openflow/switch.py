"""The switch that a test talks to."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

PORTS = 3


@dataclass
class Output:
    """All that came out of a switch in answer."""

    messages: list[bytes] = field(default_factory=list)
    """Messages to the controller."""
    frames: Counter[tuple[int, bytes]] = field(default_factory=Counter)
    """Frames by the port where they went out, and how often."""


class Switch(Protocol):
    """A switch with ports 1 to `PORTS` and one controller."""

    name: str

    def tell(self, *messages: bytes) -> Output:
        """Sends messages of OpenFlow; returns when all are carried out."""

    def give(self, port: int, frames: tuple[bytes, ...], count: int, interval_ns: int) -> Output:
        """Gives `count` frames to a port, one every `interval_ns`, in turn; returns when all are
        forwarded."""
