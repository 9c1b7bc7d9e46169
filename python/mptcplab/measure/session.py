"""A probe's session with a target: all experiments within a budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as File

from mptcplab import _native
from mptcplab.measure.figures import Measured
from mptcplab.measure.passing import BothSettings, Settings
from mptcplab.measure.plan import LOOKS, MOST_PATHS, Kind, Path, Step, first_path
from mptcplab.measure.survival import MP_CAPABLE, TOO_SHORT
from mptcplab.printable import printable

STOPPED = "It was stopped"
"""The reason where the caller wants no more."""
USED_UP = "The budget does not allow the next experiment"

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
        _native.MeasureStopped: `goes_on` has said no.
        _native.MeasureError: the target is not reached, or refuses, or the kernel does not tell its
            interfaces and addresses.

    """

    def __init__(self, host: str, port: int, token: str, goes_on: Callable[[], bool]) -> None:
        self._native = _native.MeasureSession(host, port, token, goes_on)
        self.target = self._native.target()
        terms = json.loads(self._native.terms())
        self.data_port: int = terms["data_port"]
        self.volume_left_bytes: int | None = terms["volume_left_bytes"]
        self.rate_limit_bps: int | None = terms["rate_limit_bps"]
        ours = Settings(**json.loads(self._native.settings()))
        self.settings = BothSettings(ours, Settings(**terms["settings"]))
        found = tuple(Path(**row) for row in json.loads(self._native.paths(goes_on)))
        self.paths = found[:MOST_PATHS]
        self.left_out = found[MOST_PATHS:]
        """Paths beyond those that an experiment can use."""

    @property
    def used_bytes(self) -> int:
        """The data that have gone so far, both ways, with those of the control channel."""
        return self._native.payload_bytes() + self._native.control_bytes()

    def run(
        self,
        steps: Sequence[Step],
        budget_bytes: int,
        endpoints: tuple[str, ...] | None,
        seed: int,
        goes_on: Callable[[Progress], bool],
    ) -> Measured:
        """Carries them out, in this order; the seed decides on which path MPTCP begins first.

        `endpoints` are the addresses that are endpoints of the path manager, where that is known.
        `goes_on` is asked several times a second. What was measured is kept once it says no, where
        the target is lost or refuses, and where the rest of the budget does not allow the next
        experiment.
        """
        limit = None if self.rate_limit_bps is None else self.rate_limit_bps / 1e6
        measured = Measured(self.paths, sent_options(), endpoints, limit, settings=self.settings)
        for number, step in enumerate(steps):
            if step.kind in LOOKS:
                if not _is_wanted(measured, step):
                    continue
            elif measured.obstacle is not None:
                measured.partial = measured.obstacle
                break
            now = Progress(number, len(steps), self.used_bytes)
            if not goes_on(now):
                measured.partial = STOPPED
                break
            if self.used_bytes + step.most_bytes(len(self.paths)) > budget_bytes:
                measured.partial = USED_UP
                break
            if step.kind is Kind.MPTCP:
                begin = first_path(measured.capable, step.repetition, seed)
                step = replace(step, begin=begin)
            if not self._carry_out(step, measured, goes_on, budget_bytes, now):
                break
        measured.used_bytes = self.used_bytes
        return measured

    def _carry_out(
        self,
        step: Step,
        measured: Measured,
        goes_on: Callable[[Progress], bool],
        budget_bytes: int,
        now: Progress,
    ) -> bool:
        """Whether all goes on after it."""
        plan = json.dumps(step.request(self.paths, self.target))
        is_stopped = False

        def asked(moved: int) -> bool:
            nonlocal is_stopped
            is_stopped = not goes_on(Progress(now.done, now.of, now.used_bytes + moved))
            return not is_stopped

        try:
            result = json.loads(self._native.run(plan, asked, budget_bytes - now.used_bytes))
        except _native.MeasureStopped:
            measured.partial = STOPPED if is_stopped or not goes_on(now) else USED_UP
            return False
        except _native.MeasureError as error:
            measured.partial = one_line(str(error))
            measured.is_lost = True
            return False
        if result["stopped"]:
            measured.partial = STOPPED if is_stopped or not goes_on(now) else USED_UP
            return False
        measured.done.append((step, result))
        return True


def one_line(text: str) -> str:
    """A reason that may be the target's, as a sentence without its stop."""
    return printable(" ".join(text.split())).removesuffix(".")


def _is_wanted(measured: Measured, look: Step) -> bool:
    """Whether a look tells more than those before it."""
    if look.kind is Kind.SURVIVAL and look.repetition:
        return is_second_look_wanted(measured, look.path)
    if look.kind is Kind.FAST_OPEN and look.repetition > 1:
        return _has_failed_fast_open(measured, look.path)
    return True


def _has_failed_fast_open(measured: Measured, path: int | None) -> bool:
    """Whether data in a SYN, or the request for a cookie, were lost, perhaps by chance."""
    return any(
        one["probe"]["seen"]["fast_open_failure"] is not None
        for step, result in measured.done
        if step.kind is Kind.FAST_OPEN and step.repetition and step.path == path
        for one in result["connections"]
    )


def is_second_look_wanted(measured: Measured, path: int | None) -> bool:
    """Whether a longer trial that begins on this path tells more about joins over others."""
    told = measured.survival
    return any(
        one.unknown == TOO_SHORT and other != path and path is not None and told[path].capable
        for other, one in enumerate(told)
    )


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
