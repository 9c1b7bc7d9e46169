"""A bar that shows how far all runs of a session are."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Bar:
    """A bar that goes when it is done."""

    def __init__(self, name: str, runs: int, screen: Console) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=screen,
            transient=True,
        )
        self._task = self._bar.add_task(name, total=float(runs))

    def begin(self) -> None:
        """See `Display`."""
        self._bar.start()

    def end(self) -> None:
        """See `Display`."""
        self._bar.stop()

    def show(self, words: str, ended: float) -> None:
        """See `Display`."""
        self._bar.update(self._task, description=words, completed=ended)
