"""A progress bar over the bytes of captures."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

PATIENCE_S = 0.5
"""What is read faster than this shows no bar."""


class ReadingProgress:
    """The bar, on standard error where this is a terminal."""

    def __init__(self, files: Sequence[str]) -> None:
        self._name = files[0] if len(files) == 1 else f"{len(files)} files"
        self._begun = monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> ReadingProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reached(self, done: int, total: int) -> None:
        """So many bytes were read, of so many; the total is 0 where nobody knows."""
        if self._bar is None:
            if monotonic() - self._begun < PATIENCE_S:
                return
            self._bar = self._start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total or None)

    def _start(self) -> Progress:
        console = Console(stderr=True)
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        bar.add_task(self._name, total=None)
        bar.start()
        return bar
