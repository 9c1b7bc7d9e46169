"""`trace`: what the connections in captures did."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.scenario.units import UnitError, parse_time
from mptcplab.trace.errors import TraceError

if TYPE_CHECKING:
    from mptcplab.trace.pairing import Pair
    from mptcplab.trace.trace import Trace
    from mptcplab.trace.views import View


@dataclass(frozen=True)
class TraceOptions:
    """The command's options."""

    files: tuple[str, ...]
    peer: tuple[str, ...]
    matching: str | None
    connections: str | None
    from_time: str | None
    to_time: str | None
    tables: Path | None
    html: Path | None
    events: bool
    statistics: bool
    every: bool
    checksums: bool
    workers: int | None
    as_json: bool

    @property
    def needs_packets(self) -> bool:
        """Whether the table of packets is needed, which costs time and room."""
        wanted = (self.tables, self.html, self.peer or None, self.statistics or None)
        return any(one is not None for one in wanted)


def trace_captures(options: TraceOptions) -> None:
    """Analyses the captures and prints what was asked for."""
    if options.html is not None and not options.html.parent.is_dir():
        raise UserError(f"{options.html}: cannot be written: its folder does not exist")
    span = (_time("--from", options.from_time), _time("--to", options.to_time))
    numbers = _numbers(options.connections)
    interruption = Interruption()
    try:
        _check_filter(options.matching)
        trace = _read(options.files, options, interruption, options.tables)
        peer = _read(options.peer, options, interruption, None) if options.peer else None
        from mptcplab.trace.views import view

        chosen = view(
            trace,
            matching=options.matching,
            connections=numbers,
            from_ns=span[0],
            to_ns=span[1],
        )
        _show(chosen, None if peer is None else _pair(chosen, peer, options), options)
    except TraceError as error:
        raise UserError(str(error)) from error
    if interruption.requested:
        typer.echo("interrupted: what was read until then is shown", err=True)
        raise typer.Exit(INTERRUPTED_STATUS)
    if _tell_damage(trace) + (0 if peer is None else _tell_damage(peer)):
        raise typer.Exit(1)


def _tell_damage(trace: Trace) -> int:
    """Says which files are damaged, on standard error; gives how many."""
    damaged = [file for file in trace.capture.files if file.damage is not None]
    for file in damaged:
        assert file.damage is not None
        place = f"damaged at {file.damage.place}"
        typer.echo(f"{file.path}: {place}: {file.damage.message}", err=True)
    return len(damaged)


def _pair(chosen: View, peer: Trace, options: TraceOptions) -> Pair:
    """Puts the captures of both ends together; keeps what was found with the other tables."""
    from mptcplab.trace.pairing import pair

    found = pair(chosen.trace, peer, chosen.numbers)
    if options.tables is not None:
        for name in ("packets", "paths", "choices"):
            file = options.tables / f"pair_{name}.parquet"
            try:
                getattr(found, name).write_parquet(file)
            except OSError as error:
                raise UserError(f"{file}: cannot be written: {error.strerror}") from error
    return found


def _check_filter(text: str | None) -> None:
    """Finds mistakes before a long reading begins."""
    if text is not None:
        from mptcplab.trace.matching import check

        check(text)


def _read(
    files: tuple[str, ...],
    options: TraceOptions,
    interruption: Interruption,
    tables: Path | None,
) -> Trace:
    """Reads captures, or opens tables that were kept."""
    from mptcplab.trace.reading import open_tables, read

    if len(files) == 1 and Path(files[0]).is_dir():
        if tables is not None:
            raise UserError(f"--tables: {files[0]} holds tables already, there is nothing to read")
        return open_tables(files[0])
    from mptcplab.cli.trace_progress import ReadingProgress

    with interruption.listening(), ReadingProgress(files) as bar:

        def progress(done: int, total: int) -> bool:
            bar.reached(done, total)
            return not interruption.requested

        return read(
            files,
            packets=options.needs_packets,
            checksums=options.checksums,
            workers=options.workers,
            tables=tables,
            progress=progress,
        )


def _show(view: View, pair: Pair | None, options: TraceOptions) -> None:
    if options.html is not None:
        from mptcplab.trace.html import to_html

        try:
            options.html.write_text(to_html(view, pair), encoding="utf-8")
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            raise UserError(f"{options.html}: {reason}") from error
    if options.as_json:
        from mptcplab.trace.json import to_json
        from mptcplab.trace.pair_words import pair_json

        both = None if pair is None else pair_json(pair)
        found = to_json(view, statistics=options.statistics, pair=both)
        typer.echo(json.dumps(found, indent=1, allow_nan=False))
        return
    if options.events:
        from mptcplab.trace.story import story

        for line in story(view):
            typer.echo(line)
        return
    from rich.console import Console

    from mptcplab.trace.terminal import to_terminal

    to_terminal(view, Console(), every=options.every, statistics=options.statistics, pair=pair)


def _time(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except UnitError as error:
        raise UserError(f"{option}: {error}") from error


def _numbers(text: str | None) -> set[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise UserError(f"--connection: '{text}': write numbers, such as 0 or 0,3")
    return {int(part) for part in parts}
