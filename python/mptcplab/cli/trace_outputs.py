"""Outputs of `trace`: files that are written, and one thing that is printed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import Interruption
from mptcplab.cli.output import Stream, console
from mptcplab.cli.trace_options import TraceOptions, numbers
from mptcplab.printable import printable

NAMED = 20
"""Holes of a stream that are named, each by itself."""

if TYPE_CHECKING:
    from mptcplab.trace.pairs.pair import Pair
    from mptcplab.trace.views import View


def show(view: View, pair: Pair | None, options: TraceOptions, interruption: Interruption) -> int:
    """Writes and prints what was asked for; returns how many holes a followed stream has."""
    if options.write is not None:
        _write(view, options, interruption)
    if options.graphs is not None:
        from mptcplab.trace.graph_files import write_graphs

        written = write_graphs(view, options.graphs)
        typer.echo(f"{options.graphs}: {len(written)} graphs, each as CSV and for xplot", err=True)
    if options.html is not None:
        from mptcplab.trace.render.html import to_html

        try:
            options.html.write_text(to_html(view, pair), encoding="utf-8")
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            raise UserError(f"{options.html}: {reason}") from error
    if options.explain:
        from mptcplab.cli.trace_explain import print_explanation

        print_explanation(view, as_json=options.as_json)
        return 0
    if options.as_json:
        from mptcplab.trace.pairs.words import pair_json
        from mptcplab.trace.render.json import json_lines

        both = None if pair is None else pair_json(pair)
        for line in json_lines(view, statistics=options.statistics, pair=both):
            typer.echo(line)
        return 0
    if options.events:
        from mptcplab.trace.story import story

        for line in story(view):
            typer.echo(line)
        return 0
    if options.list_packets:
        from mptcplab.trace.packet_list import packet_lines

        for line in packet_lines(view):
            typer.echo(line)
        return 0
    if options.follow is not None:
        return _follow(view, options.follow)
    from mptcplab.trace.render.terminal import to_terminal

    to_terminal(view, console(), every=options.every, statistics=options.statistics, pair=pair)
    return 0


def _write(view: View, options: TraceOptions, interruption: Interruption) -> None:
    """Writes the chosen packets as a capture; says on standard error how many, and the filter."""
    from mptcplab.cli.trace_progress import ReadingProgress
    from mptcplab.trace.frames import write_capture

    assert options.write is not None
    subflows = numbers("--subflow", options.subflows)
    files = [file.path for file in view.trace.capture.files]
    with interruption.listening(), ReadingProgress(files) as bar:

        def progress(done: int, total: int) -> bool:
            bar.reached(done, total)
            return not interruption.requested

        written = write_capture(view, options.write, subflows, progress)
    typer.echo(f"{options.write}: {written.packets} packets", err=True)
    typer.echo(printable(f"display filter: {written.display_filter}"), err=True)


def _follow(view: View, sender: str) -> int:
    """Prints the data that an end of the only connection sent; names holes on standard error."""
    from mptcplab.trace.stream import follow
    from mptcplab.trace.words import size

    if len(view.numbers) != 1:
        raise UserError(
            f"--follow: is about one connection, and {len(view.numbers)} are chosen: choose one by "
            "--connection"
        )
    output = sys.stdout if isinstance(sys.stdout, Stream) else Stream(sys.stdout)
    holes = follow(view.trace, view.numbers[0], sender, output.write_bytes)
    output.flush()
    for hole in holes[:NAMED]:
        typer.echo(hole.words, err=True)
    if len(holes) > NAMED:
        missing = size(sum(hole.end - hole.start for hole in holes))
        typer.echo(f"and {len(holes) - NAMED} more holes, {missing} with these", err=True)
    return len(holes)
