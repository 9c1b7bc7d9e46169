"""A progress bar over all runs of a session, in seconds of their expected length."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from mptcplab.engine.task import Job

UNKNOWN_RUN_S = 10.0
"""Length of a run until one of its kind has ended."""


class RunProgress:
    """The bar; several runs may go on at once."""

    def __init__(self, jobs: Sequence[Job], name: str, *, shown: bool) -> None:
        self._jobs = jobs
        self._name = name
        self._expected_s: dict[int, float | None] = {}
        self._shares: dict[int, float] = {}
        self._unknown_s = UNKNOWN_RUN_S
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not shown,
            transient=True,
        )
        self._task = self._bar.add_task(name, total=float(len(jobs)))

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begun(self, number: int, expected_s: float | None) -> None:
        """See `mptcplab.engine.task.Progress`."""
        self._expected_s[number] = expected_s
        task = self._jobs[number].task
        place = f"({number + 1}/{len(self._jobs)})"
        words = f"{self._name} {task.variant} {task.repetition} {place}"
        self._bar.update(self._task, description=words)
        self._show(number, 0.0)

    def reached(self, number: int, seconds: float) -> None:
        """See `mptcplab.engine.task.Progress`."""
        expected_s = self._expected_s[number]
        longest_s = self._unknown_s if expected_s is None else expected_s
        # A run that takes longer than expected stays just short of its end.
        self._show(number, min(seconds / longest_s, 0.99) if longest_s else 0.0)
        if expected_s is None:
            self._unknown_s = max(self._unknown_s, seconds)

    def ended(self, number: int) -> None:
        """See `mptcplab.engine.task.Progress`."""
        self._show(number, 1.0)

    def _show(self, number: int, share: float) -> None:
        self._shares[number] = share
        self._bar.update(self._task, completed=sum(self._shares.values()))
