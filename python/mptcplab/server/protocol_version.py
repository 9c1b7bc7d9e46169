"""Versions of the protocol between agents and the server, a number each, counted from 1.

There is a new one where an agent of the version before could not be served any more. So that a
fleet need not be updated in the same moment as its server, this takes the version before, too:
`OURS` here and `VERSION` in the agent (`crates/host/agent/src/api.rs`) are raised, and the server
keeps what the version before needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Versions:
    """The versions that a server takes."""

    current: int
    """The newest."""

    @property
    def taken(self) -> tuple[int, ...]:
        """The current one, and before it the one before, where there is one."""
        return tuple(range(max(1, self.current - 1), self.current + 1))

    def refusal(self, told: str | None) -> str | None:
        """The reason for which a version is not taken, and the remedy; null where it is.

        `told` is the header of a request, null where it has none.
        """
        number = int(told) if told is not None and _NUMBER.fullmatch(told) else None
        if number in self.taken:
            return None
        takes = f"this server takes {self}"
        if number is None:
            return f"Mptcplab-Protocol has to be the number of a version of the protocol: {takes}"
        side = "agent" if number < self.current else "server"
        return f"Version {number} of the protocol is not spoken here: {takes}; update the {side}"

    def __str__(self) -> str:
        several = "s" if len(self.taken) > 1 else ""
        return f"version{several} {' and '.join(map(str, self.taken))}"


OURS = Versions(1)
"""Until now there is one version alone."""
