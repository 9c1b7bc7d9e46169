"""A progress bar over the bytes of captures."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from mptcplab.cli.output import console

PATIENCE_S = 0.5
"""A reading that is faster than this shows no bar."""


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
        """Shows how many bytes were read, of how many; the total is 0 where unknown."""
        if self._bar is None:
            if monotonic() - self._begun < PATIENCE_S:
                return
            self._bar = self._start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total or None)

    def _start(self) -> Progress:
        screen = console(stderr=True)
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=screen,
            disable=not screen.is_terminal,
            transient=True,
        )
        bar.add_task(self._name, total=None)
        bar.start()
        return bar
