"""`trace`: what the connections in captures did."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.output import console
from mptcplab.cli.trace_sources import Source, sources
from mptcplab.scenario.units import UnitError, parse_time
from mptcplab.trace.errors import TraceError

if TYPE_CHECKING:
    from mptcplab.trace.pairs.pair import Pair
    from mptcplab.trace.trace import Trace
    from mptcplab.trace.views import View


CLOCKS = ("same", "other")
"""Values of `--clock`."""


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
    list_packets: bool
    statistics: bool
    every: bool
    checksums: bool
    workers: int | None
    as_json: bool
    clock: str | None
    """`same`, `other`, or null: as the files tell."""

    @property
    def needs_packets(self) -> bool:
        """Whether a single capture's table of packets is needed, which costs time and room."""
        return (
            self.tables is not None or self.html is not None or self.statistics or self.list_packets
        )


def trace_captures(options: TraceOptions) -> None:
    """Analyses the captures and prints what was asked for."""
    if options.html is not None and not options.html.parent.is_dir():
        raise UserError(f"{options.html}: cannot be written: its folder does not exist")
    span = _span(options)
    numbers = _numbers(options.connections)
    if options.clock not in (None, *CLOCKS):
        raise UserError(f"--clock: '{options.clock}': write {' or '.join(CLOCKS)}")
    named = sources(options.files, options.peer)
    if options.clock is not None and named.there is None:
        raise UserError("--clock: is about two captures: name the other one by --peer")
    interruption = Interruption()
    try:
        _check_filter(options.matching)
        packets = options.needs_packets or named.there is not None
        trace = _read(named.here, options, packets, interruption, options.tables)
        peer = None
        if named.there is not None:
            peer = _read(named.there, options, packets, interruption, None)
        from mptcplab.trace.views import view

        chosen = view(
            trace,
            matching=options.matching,
            connections=numbers,
            from_ns=span[0],
            to_ns=span[1],
        )
        same_clock = named.same_clock if options.clock is None else options.clock == "same"
        both = None if peer is None else _pair(chosen, peer, options, same_clock)
        _show(chosen, both, options)
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


def _pair(chosen: View, peer: Trace, options: TraceOptions, same_clock: bool) -> Pair:
    """Puts the captures of both ends together; keeps what was found with the other tables."""
    from mptcplab.trace.pairs.pair import pair

    found = pair(chosen.trace, peer, chosen.numbers, same_clock=same_clock)
    if options.tables is not None:
        for name in ("packets", "paths", "choices", "reinjections"):
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
    source: Source,
    options: TraceOptions,
    packets: bool,
    interruption: Interruption,
    tables: Path | None,
) -> Trace:
    """Reads captures, or opens tables that were kept."""
    from mptcplab.trace.reading import open_tables, read

    if source.tables is not None:
        if tables is not None:
            raise UserError(
                f"--tables: {source.tables} holds tables already, there is nothing to read"
            )
        return open_tables(source.tables)
    from mptcplab.cli.trace_progress import ReadingProgress

    with interruption.listening(), ReadingProgress(source.files) as bar:

        def progress(done: int, total: int) -> bool:
            bar.reached(done, total)
            return not interruption.requested

        return read(
            source.files,
            packets=packets,
            checksums=options.checksums,
            workers=options.workers,
            tables=tables,
            progress=progress,
        )


def _show(view: View, pair: Pair | None, options: TraceOptions) -> None:
    if options.html is not None:
        from mptcplab.trace.render.html import to_html

        try:
            options.html.write_text(to_html(view, pair), encoding="utf-8")
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            raise UserError(f"{options.html}: {reason}") from error
    if options.as_json:
        from mptcplab.trace.pairs.words import pair_json
        from mptcplab.trace.render.json import json_lines

        both = None if pair is None else pair_json(pair)
        for line in json_lines(view, statistics=options.statistics, pair=both):
            typer.echo(line)
        return
    if options.events:
        from mptcplab.trace.story import story

        for line in story(view):
            typer.echo(line)
        return
    if options.list_packets:
        from mptcplab.trace.packet_list import packet_lines

        for line in packet_lines(view):
            typer.echo(line)
        return
    from mptcplab.trace.render.terminal import to_terminal

    to_terminal(view, console(), every=options.every, statistics=options.statistics, pair=pair)


def _span(options: TraceOptions) -> tuple[int | None, int | None]:
    begin, end = _time("--from", options.from_time), _time("--to", options.to_time)
    if begin is not None and end is not None and end < begin:
        raise UserError(
            f"--to {options.to_time} lies before --from {options.from_time}: "
            "both count from the first packet"
        )
    return begin, end


def _time(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text, usual="s")
    except UnitError as error:
        raise UserError(f"{option}: {error}") from error


def _numbers(text: str | None) -> set[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise UserError(f"--connection: '{text}': write numbers, such as 0 or 0,3")
    return {int(part) for part in parts}
