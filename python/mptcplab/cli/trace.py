"""`trace`: what the connections in captures did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.trace_options import TraceOptions, numbers, span
from mptcplab.cli.trace_outputs import show
from mptcplab.cli.trace_sources import Source, sources
from mptcplab.trace.errors import TraceError

if TYPE_CHECKING:
    from mptcplab.trace.pairs.pair import Pair
    from mptcplab.trace.trace import Trace
    from mptcplab.trace.views import View


CLOCKS = ("same", "other")
"""Values of `--clock`."""


def trace_captures(options: TraceOptions) -> None:
    """Analyses the captures, or captures first, and prints what was asked for."""
    if options.interfaces is not None and options.files:
        raise UserError("--interface: captures anew: name no files beside it")
    if options.interfaces is None and not options.files:
        raise UserError("nothing to read: name captures, or interfaces by --interface")
    if options.html is not None and not options.html.parent.is_dir():
        raise UserError(f"{options.html}: cannot be written: its folder does not exist")
    _check_outputs(options)
    within = span(options)
    chosen_numbers = numbers("--connection", options.connections)
    if options.clock not in (None, *CLOCKS):
        raise UserError(f"--clock: '{options.clock}': write {' or '.join(CLOCKS)}")
    if options.interfaces is not None:
        options = _captured(options)
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
            connections=chosen_numbers,
            from_ns=within[0],
            to_ns=within[1],
        )
        same_clock = named.same_clock if options.clock is None else options.clock == "same"
        both = None if peer is None else _pair(chosen, peer, options, same_clock)
        holes = show(chosen, both, options, interruption)
    except TraceError as error:
        raise UserError(str(error)) from error
    if interruption.requested:
        typer.echo("interrupted: what was read until then is shown", err=True)
        raise typer.Exit(INTERRUPTED_STATUS)
    if _tell_damage(trace) + (0 if peer is None else _tell_damage(peer)) + holes:
        raise typer.Exit(1)


def _check_outputs(options: TraceOptions) -> None:
    """Refuses what cannot be had, before anything is read or captured."""
    from mptcplab.trace.figures import ENDS

    printed = {
        "--json": options.as_json,
        "--events": options.events,
        "--packets": options.list_packets,
        "--follow": options.follow is not None,
    }
    if options.explain:
        # Its JSON is printed in the place of the usual one.
        printed = {"--explain": True, **printed, "--json": False}
    asked = [name for name, is_asked in printed.items() if is_asked]
    if len(asked) > 1:
        raise UserError(f"{asked[1]}: is printed in the place of {asked[0]}: ask for one of them")
    if options.explain and (options.from_time is not None or options.to_time is not None):
        raise UserError("--explain: is about whole connections: leave out --from and --to")
    if options.follow not in (None, *ENDS):
        raise UserError(
            f"--follow: '{options.follow}': write {' or '.join(ENDS)}, whose data is meant"
        )
    if options.subflows is not None and options.write is None:
        raise UserError("--subflow: chooses packets for --write: name a file by that")
    numbers("--subflow", options.subflows)
    if options.interfaces is not None and options.subflows is not None:
        raise UserError("--subflow: what is captured has no subflows yet: leave it out")


def _captured(options: TraceOptions) -> TraceOptions:
    """Captures the interfaces; returns the options as if the file had been named."""
    from mptcplab.cli.trace_live import capture_interfaces

    try:
        _check_filter(options.matching)
    except TraceError as error:
        raise UserError(str(error)) from error
    file = capture_interfaces(options)
    return replace(options, files=(str(file),), interfaces=None, write=None)


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
