"""How a command shows how far its runs are."""

from __future__ import annotations

from mptcplab.cli.output import console
from mptcplab.progress import Display, Lines


def display(name: str, runs: int) -> Display:
    """A bar on a terminal, lines elsewhere, on standard error."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        return Lines(runs)
    # Slow to load.
    from mptcplab.cli.progress_bar import Bar

    return Bar(name, runs, screen)
