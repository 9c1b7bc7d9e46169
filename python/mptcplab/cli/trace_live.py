"""`trace --interface`: capture, and a table of the connections that moves."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import Interruption
from mptcplab.cli.output import console
from mptcplab.cli.trace_options import TraceOptions
from mptcplab.trace import words

if TYPE_CHECKING:
    from mptcplab.trace.live.recording import Progress

OF_THE_SCREEN = 6
"""Lines of a terminal that are left for all but the connections."""


def capture_interfaces(options: TraceOptions) -> Path:
    """Captures until Ctrl-C, shows the connections meanwhile, and returns the file that it made.

    It has the name of `--write`, or else one made of the time.

    Raises:
        UserError: an interface cannot be captured, or the file is there already.

    """
    from mptcplab.trace.errors import TraceError
    from mptcplab.trace.live.recording import record

    assert options.interfaces is not None
    names = [name.strip() for name in options.interfaces.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise UserError(f"--interface: '{options.interfaces}': name each once, such as wifi,lte")
    now = datetime.now(UTC)
    path = options.write or Path(f"trace-{now:%Y%m%d-%H%M%S}.pcapng")
    try:
        is_there = path.exists()
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
    if is_there:
        raise UserError(f"{path}: is there already: choose another name by --write")
    interruption = Interruption()
    screen = console(stderr=True)
    view = Live(console=screen, auto_refresh=False, transient=True)

    shown = 0

    def show(progress: Progress) -> None:
        nonlocal shown
        shown += 1
        if shown == 1:
            screen.print(Text(f"capturing {', '.join(names)} into {path}: Ctrl-C ends it"))
        if screen.is_terminal:
            view.update(_shown(progress, names, screen, options.matching), refresh=True)

    try:
        with interruption.listening(), view:
            last = record(names, path, lambda: not interruption.requested, show)
    except TraceError as error:
        kept = f"; what came before is in {path}" if path.exists() else ""
        raise UserError(f"{error}{kept}") from error
    typer.echo(f"{path}: {_line(last)}", err=True)
    return path


def _line(progress: Progress) -> str:
    lost = f", {words.count(progress.dropped)} more were lost" if progress.dropped else ""
    return (
        f"{words.count(progress.packets)} packets, {words.size(progress.size_bytes)} in "
        f"{words.length(round(progress.seconds * 1e9))}{lost}"
    )


def _shown(
    progress: Progress, names: list[str], screen: Console, matching: str | None
) -> RenderableType:
    """Returns the connections that carried most, as many as the screen has room for."""
    head = Text(f"{', '.join(names)}: {_line(progress)}", style="bold")
    trace = progress.trace
    if trace is None:
        return head
    from mptcplab.trace.render.cells import largest_first
    from mptcplab.trace.render.terminal import connection_tables
    from mptcplab.trace.views import view

    chosen = view(trace, matching=matching)
    ordered = largest_first(chosen.connections)
    room = max(1, screen.height - OF_THE_SCREEN)
    tables = connection_tables(chosen, ordered.head(room), screen)
    left = Text(f"{ordered.height} connections" if ordered.height > room else "", style="dim")
    return Group(head, *tables, left)
