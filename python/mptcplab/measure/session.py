"""A probe's session with a target: all experiments within a budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as File

from mptcplab import _native
from mptcplab.measure.figures import Measured
from mptcplab.measure.plan import Path, Step
from mptcplab.measure.survival import MP_CAPABLE

_SETTINGS = {
    "sack-permitted": "net/ipv4/tcp_sack",
    "timestamps": "net/ipv4/tcp_timestamps",
    "window-scale": "net/ipv4/tcp_window_scaling",
    MP_CAPABLE: "net/mptcp/enabled",
}
"""Options of a SYN that this kernel sends unless its setting is 0."""


@dataclass(frozen=True)
class Progress:
    """How far it is."""

    done: int
    """Experiments that have ended."""
    of: int
    used_bytes: int


class Session:
    """A session with a target.

    Raises:
        _native.MeasureError: the target is not reached, or refuses.

    """

    def __init__(self, host: str, port: int, token: str) -> None:
        self._native = _native.MeasureSession(host, port, token)
        self.target = self._native.target()
        self.volume_left_bytes: int | None = json.loads(self._native.terms())["volume_left_bytes"]
        self.paths = tuple(Path(**row) for row in json.loads(self._native.paths()))
        self._payload_bytes = 0

    @property
    def used_bytes(self) -> int:
        """The data that have gone so far, both ways, with those of the control channel."""
        return self._payload_bytes + self._native.control_bytes()

    def run(
        self,
        steps: Sequence[Step],
        budget_bytes: int,
        goes_on: Callable[[Progress], bool],
    ) -> Measured:
        """Carries them out, in this order.

        `goes_on` is asked several times a second; once it says no, what was measured is kept. An
        experiment that the rest of the budget does not allow is not begun, and ends all.

        Raises:
            _native.MeasureError: the target is lost, or refuses.

        """
        measured = Measured(self.paths, sent_options())
        for number, step in enumerate(steps):
            most = step.most_bytes(len(self.paths))
            now = Progress(number, len(steps), self.used_bytes)
            if not goes_on(now) or self.used_bytes + most > budget_bytes:
                measured.is_partial = True
                break
            plan = json.dumps(step.request(self.paths, self.target, measured.first_capable))

            def asked(moved: int, now: Progress = now) -> bool:
                return goes_on(Progress(now.done, now.of, now.used_bytes + moved))

            result = json.loads(self._native.run(plan, asked))
            self._payload_bytes += result["moved_bytes"]
            if result["stopped"]:
                measured.is_partial = True
                break
            measured.done.append((step, result))
        measured.used_bytes = self.used_bytes
        return measured


def sent_options() -> tuple[str, ...]:
    """Options that this kernel sends in the SYN of MPTCP, by its settings."""
    known = [name for name, setting in _SETTINGS.items() if _is_on(setting)]
    return ("mss", *known)


def _is_on(setting: str) -> bool:
    try:
        return File("/proc/sys", setting).read_text(encoding="ascii").strip() != "0"
    except OSError:
        # Another network namespace than the first one lacks some of them.
        return False
