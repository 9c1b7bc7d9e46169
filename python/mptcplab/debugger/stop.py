"""Where a session has stopped, and what has happened there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Happening:
    """Something that has happened at the last event of the simulator."""

    kind: str
    """A decision's name, or `packet`."""
    host: str
    link: str | None
    """Of a packet."""
    connection: int | None
    """Number of the connection; null where no flow has opened or accepted it yet."""
    subflow: int | None
    """Its id: counts all subflows of the connection that were opened, from 0."""
    text: str

    def __str__(self) -> str:
        place = [self.host]
        if self.connection is not None:
            place.append(f"connection {self.connection}")
        if self.subflow is not None:
            place.append(f"subflow {self.subflow}")
        if self.link is not None:
            place.append(self.link)
        return f"{self.kind} ({', '.join(place)}): {self.text}"


@dataclass(frozen=True)
class Stop:
    """A place at which a session stands still."""

    reason: str
    """`time`, `step`, `packet`, `decision`, `condition`, or `end` of all traffic."""
    now_ns: int
    step: int
    """Events of the simulator so far."""
    at: str | None
    """The thing that it has stopped at, as it was asked for."""
    actor: str | None
    """The last to act: a host, a link, traffic, …"""
    happenings: tuple[Happening, ...]

    @classmethod
    def read(cls, text: str, asked: Sequence[str]) -> Stop:
        """Reads a stop; `asked` are the things to stop at, as they were asked for."""
        told = json.loads(text)
        place = told.pop("at")
        happenings = tuple(Happening(**one) for one in told.pop("happenings"))
        return cls(**told, at=None if place is None else asked[place], happenings=happenings)

    def to_json(self) -> dict[str, Any]:
        """The stop for programs."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.now_ns / 1e9:.9f} s, event {self.step}: {self._why()}"]
        return "\n  ".join([*lines, *map(str, self.happenings)])

    def _why(self) -> str:
        if self.reason == "end":
            return "all traffic has ended"
        if self.at is not None:
            return self.at
        return self.actor or self.reason
