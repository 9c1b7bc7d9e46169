"""Ctrl-C and SIGTERM for the commands: how they end."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from mptcplab import interruption
from mptcplab.cli import INTERRUPTED_STATUS
from mptcplab.interruption import ONE_REQUEST_S

__all__ = ["INTERRUPTED_STATUS", "ONE_REQUEST_S", "Interruption"]


class Interruption(interruption.Interruption):
    """The requests to a command; a second one ends it with a message."""

    @contextmanager
    def listening(
        self, signals: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
    ) -> Iterator[None]:
        """See `mptcplab.interruption.Interruption.listening`."""
        try:
            with super().listening(signals):
                yield
        except KeyboardInterrupt:
            typer.echo("aborted by a second signal: what was not written yet is lost", err=True)
            raise typer.Exit(INTERRUPTED_STATUS) from None
