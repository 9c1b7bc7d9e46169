"""Jobs of an engine, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mptcplab.engine.compile import Capture
    from mptcplab.scenario import Scenario


class EngineError(Exception):
    """An engine could not run its plan; the message says why and what to do."""


@dataclass(frozen=True)
class Task:
    """One repetition of one variant."""

    scenario: Scenario
    variant: str
    repetition: int
    """From 1."""
    seed: int
    """The repetition's own."""


@dataclass(frozen=True)
class Job:
    """A task and where its recording goes."""

    task: Task
    folder: Path
    """Of the recording; must not hold anything yet."""
    captures: bool = False
    """Whether to write the packets of every host's interface, beside the tables."""
    is_live: bool = False
    """Whether rows are kept and told of while the run lasts."""
    pause_at: str | None = None
    """A time, or the label of an event, at which a run on the kernel pauses by itself."""

    @property
    def capture(self) -> Capture | None:
        """Interfaces to capture, and the folder of the captures."""
        from mptcplab.engine.compile import Capture

        return Capture(self.folder.resolve()) if self.captures else None


class Progress(Protocol):
    """Receiver of how far the jobs are."""

    def begun(self, number: int, expected_s: float | None) -> None:
        """Job `number` (from 0) begins; it takes so long, where that is known."""

    def reached(self, number: int, seconds: float) -> None:
        """Job `number` has reached this second of its run."""

    def watched(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Job `number`, which is live, has these rows to show; see `mptcplab.engine.watch`."""

    def paused(self, number: int, seconds: float) -> None:
        """Job `number` has paused by itself at this second of its run."""

    def ended(self, number: int) -> None:
        """Job `number` has ended, well or not."""


class NullProgress:
    """Progress that is not followed."""

    def begun(self, number: int, expected_s: float | None) -> None:
        """See `Progress`."""

    def reached(self, number: int, seconds: float) -> None:
        """See `Progress`."""

    def watched(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """See `Progress`."""

    def paused(self, number: int, seconds: float) -> None:
        """See `Progress`."""

    def ended(self, number: int) -> None:
        """See `Progress`."""


class Engine(Protocol):
    """Something that carries out jobs."""

    def execute(self, jobs: Sequence[Job], progress: Progress) -> list[str]:
        """Carries out the jobs, and gives what went wrong, a sentence a failure.

        After a failure no job begins that has not begun yet. What was measured is recorded.

        Raises:
            ScenarioError: a variant cannot be compiled.

        """

    def stop(self) -> None:
        """Ends what runs, keeps what was measured, and begins nothing more.

        Comes from a signal's handler, at any time.
        """
