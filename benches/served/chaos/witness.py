"""Results on the disks of agents, seen by another program: the truth that a server must know."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from ..api import Api

_MOST_KEPT = 200


@dataclass(frozen=True)
class Seen:
    """A result that was on a disk, whole."""

    agent: int
    own: str
    sequence: int
    sha256: str


class Witness:
    """Looks at spools again and again."""

    def __init__(self, states: list[Path]) -> None:
        self._states = states
        self.seen: dict[str, Seen] = {}
        """By the id."""
        self.kept: deque[tuple[int, str, bytes]] = deque(maxlen=_MOST_KEPT)
        """Agents, ids and bytes of the last ones."""

    def look(self) -> None:
        """Takes down what is new."""
        for agent, state in enumerate(self._states):
            try:
                files = list((state / "spool").glob("*.json"))
            except OSError:
                continue
            for file in files:
                number, _, own = file.stem.partition("-")
                if own not in self.seen:
                    self._take(agent, file, own, int(number))

    def _take(self, agent: int, file: Path, own: str, sequence: int) -> None:
        try:
            body = file.read_bytes()
        except OSError:
            # It has been sent meanwhile.
            return
        self.seen[own] = Seen(agent, own, sequence, hashlib.sha256(body).hexdigest())
        self.kept.append((agent, own, body))

    def identity(self, agent: int, port: int) -> Api | None:
        """The API for an agent; null before it is enrolled."""
        try:
            told = json.loads((self._states[agent] / "agent.json").read_bytes())
        except OSError:
            return None
        return Api(port, told["secret"])
