"""`explain CAPTURE`: what packets tell, a scenario fitted to them, and what helps in it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from mptcplab.cli.errors import UserError
from mptcplab.cli.explain import Shown, ended_by_signals, remedy_columns
from mptcplab.cli.output import console, json_text
from mptcplab.cli.trace_explain import account_json, print_accounts
from mptcplab.engine.job import EngineError
from mptcplab.explanation.words import best_words, commands, refused_words
from mptcplab.fit import Fit, FitError, PathEstimate, fitted
from mptcplab.report.layout import Column, Kind, laid_out
from mptcplab.trace import TraceError, View, read, view

_ROWS = 5
"""Remedies in the terminal; --json has all."""
_GOOD = 0.1
"""Deviation of the goodput up to which a scenario fits well."""


def explain_capture(
    files: Sequence[Path],
    workers: int | None,
    *,
    fits: bool,
    remedies: bool,
    as_json: bool,
) -> None:
    """Explains captures that belong together.

    Without `fits` by their packets alone; without `remedies` no change is tried in the scenario
    that is fitted to them.
    """
    fit: Fit | None = None
    untried: str | None = None
    try:
        with read(files, packets=True, workers=workers) as trace:
            seen = view(trace)
            if fits:
                try:
                    fit = _fitted(seen, workers, remedies=remedies, is_quiet=as_json)
                except FitError as error:
                    untried = str(error)
            _show(seen, fit, untried, remedies=remedies, as_json=as_json)
            damaged = [one for one in trace.capture.files if one.damage is not None]
    except (TraceError, EngineError) as error:
        raise UserError(str(error)) from error
    for one in damaged:
        assert one.damage is not None
        typer.echo(f"{one.path}: damaged at {one.damage.place}: {one.damage.message}", err=True)
    if damaged:
        raise typer.Exit(1)


def _fitted(seen: View, workers: int | None, *, remedies: bool, is_quiet: bool) -> Fit:
    with ended_by_signals(), ExitStack() as shown:
        follow = Shown(shown, is_quiet=is_quiet)
        return fitted(seen, workers=workers, follow=follow, remedies=remedies)


def _show(
    seen: View, fit: Fit | None, untried: str | None, *, remedies: bool, as_json: bool
) -> None:
    if as_json:
        typer.echo(json_text(_json(seen, fit, untried, remedies=remedies)))
        return
    print_accounts(seen, is_tried=fit is not None)
    screen = console()
    for sentence in _sentences(fit, untried, remedies=remedies):
        screen.print(Text(sentence))
    if fit is None:
        return
    screen.print(*laid_out(_paths(fit), screen), sep="")
    if fit.remedies:
        screen.print(*laid_out(remedy_columns(fit.remedies[:_ROWS]), screen), sep="")
        for line in commands(fit.remedies):
            screen.print(Text(f"  {line}"))


def _json(seen: View, fit: Fit | None, untried: str | None, *, remedies: bool) -> dict[str, Any]:
    told = account_json(seen, is_tried=fit is not None)
    return told | {
        "fit": None if fit is None else fit.to_json(),
        "remedies": [] if fit is None else [one.to_json() for one in fit.remedies],
        "remedies_tried": fit is not None and remedies,
        "simulated_mbps": None if fit is None else fit.simulated_mbps,
        "untried": untried,
        "refused": [] if fit is None else [one.to_json() for one in fit.refused],
    }


def _sentences(fit: Fit | None, untried: str | None, *, remedies: bool) -> list[str]:
    if fit is None:
        return [] if untried is None else [f"Nothing was tried: {untried.rstrip('.')}."]
    goodput = fit.goodput
    how = "fits" if abs(goodput.part) <= _GOOD else "does not fit well"
    found = [
        f"A scenario fitted to connection {fit.connection} {how}: it carries "
        f"{goodput.simulated:.3g} Mbit/s, where {goodput.real:.3g} were captured "
        f"({100 * goodput.part:+.0f} %)."
    ]
    found += [f"Left out: {note}." for note in fit.notes]
    if fit.remedies:
        found.append(best_words(fit.remedies[0]))
    elif remedies:
        found.append("No single change that was tried helps.")
    return [*found, *refused_words(fit.refused)]


def _paths(fit: Fit) -> list[Column]:
    """The estimates, each beside how the simulated path does."""
    apart = {(one.figure, one.path): one for one in fit.deviations}

    def both(figure: str, path: PathEstimate, digits: int) -> str:
        one = apart.get((figure, path.name))
        return "" if one is None else f"{one.real:.{digits}f}, {one.simulated:.{digits}f}"

    paths: Sequence[PathEstimate] = fit.paths
    queues = ["" if one.queue_bytes is None else f"{one.queue_bytes / 1e3:.0f} kB" for one in paths]
    return [
        Column("path", [one.name for one in paths], Kind.VALUE, is_left=True),
        Column("client", [one.client_address for one in paths], Kind.VALUE, is_left=True),
        Column("rate\nMbit/s", [f"{one.rate_mbps:.1f}" for one in paths]),
        Column("delay\nms", [f"{one.delay_ms:.1f}" for one in paths]),
        Column("lost\n%", [f"{100 * one.loss:.2f}" for one in paths]),
        Column("queue", queues),
        Column("carried, simulated\nMbit/s", [both("carried_mbps", one, 1) for one in paths]),
        Column("round trip, simulated\nms", [both("rtt_ms", one, 0) for one in paths]),
    ]
