"""`list`, `show`, `check` and `new`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.output import json_text
from mptcplab.scenario import Problem, ScenarioError

if TYPE_CHECKING:
    from mptcplab.scenario import Scenario

MOST_VARIANTS = 12
"""Variants of a scenario that a list names; `show` and JSON have all."""


def load_scenario(name: str) -> Scenario:
    """Loads a scenario for a command; its problems become one message."""
    from mptcplab.session import load_known

    try:
        return load_known(name)
    except ScenarioError as error:
        raise UserError(str(error)) from error


def list_scenarios(pattern: str, *, as_json: bool) -> None:
    """Prints the catalogue's entries that match."""
    from mptcplab.scenario.entries import catalogue

    entries = catalogue(pattern)
    if as_json:
        rows = [
            {"name": e.name, "title": e.title, "source": e.source, "variants": list(e.variants)}
            for e in entries
        ]
        typer.echo(json_text(rows))
        return
    if not entries:
        raise UserError(f"no scenario matches '{pattern}'; `mptcplab list` shows all")
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        more = len(entry.variants) - MOST_VARIANTS
        names = [*entry.variants[:MOST_VARIANTS], *([f"and {more} more"] if more > 0 else [])]
        typer.echo(f"{entry.name:{width}}  {entry.title}  [{', '.join(names)}]")


def show_scenario(name: str, svg: Path | None, *, as_json: bool) -> None:
    """Prints, or writes as SVG, what a scenario describes."""
    from mptcplab.scenario.topology.svg import draw_svg
    from mptcplab.scenario.topology.text import draw_text

    scenario = load_scenario(name)
    if svg is not None:
        try:
            svg.write_text(draw_svg(scenario))
        except OSError as error:
            raise UserError(f"{svg}: cannot be written: {error.strerror}") from error
    if as_json:
        typer.echo(json_text(scenario.model_dump(mode="json", exclude_none=True)))
    else:
        typer.echo(draw_text(scenario))
        typer.echo("Engines")
        for line in _engine_words(scenario):
            typer.echo(f"  {line}")


def _engine_words(scenario: Scenario) -> Iterator[str]:
    """Each engine, with what it cannot do of the scenario on any machine."""
    from mptcplab.engine.choice import KERNEL, SIM, unsupported
    from mptcplab.scenario.tree import dotted

    for engine in (KERNEL, SIM):
        found = unsupported(engine, scenario, list(scenario.variants))
        reasons = [
            f"{refusal.reason} ({', '.join([dotted(refusal.path or ()), *refusal.variants])})"
            for refusal in found
        ]
        yield f"{engine}: no, {'; '.join(reasons)}" if reasons else engine


def _only_on(scenario: Scenario) -> str:
    """A remark on a scenario that not every engine can run, or only that of another machine."""
    from mptcplab.engine.choice import KERNEL, SIM, missing, unsupported

    variants = list(scenario.variants)
    able = [e for e in (KERNEL, SIM) if not unsupported(e, scenario, variants)]
    if able == [KERNEL]:
        reasons = [refusal.reason for refusal in missing(scenario, variants)]
        here = f"; not on this machine: {', '.join(reasons)}" if reasons else ""
        return f" ({KERNEL} engine only{here})"
    if len(able) == 1:
        return f" ({able[0]} engine only)"
    return "" if able else " (no engine can run all of it)"


def check_scenarios(names: Sequence[str], *, as_json: bool) -> None:
    """Prints every problem of every file; exit status 1 when there is any."""
    from mptcplab.scenario.points import check_points
    from mptcplab.session import load_known

    problems: list[Problem] = []
    for name in names:
        try:
            scenario = load_known(name)
        except ScenarioError as error:
            problems.extend(error.problems)
        else:
            of_points = check_points(scenario)
            problems += of_points
            if not (as_json or of_points):
                typer.echo(f"{name}: good{_only_on(scenario)}")
    if as_json:
        rows = [
            {"file": p.origin, "line": p.line, "key": p.key, "message": p.text} for p in problems
        ]
        typer.echo(json_text({"problems": rows}))
    else:
        for problem in problems:
            typer.echo(str(problem), err=True)
    if problems:
        raise typer.Exit(1)


def write_new_scenario(file: Path) -> None:
    """Writes a commented scenario to a file that is not there yet."""
    from mptcplab.scenario.loading import SUFFIXES, new_text

    if file.suffix not in SUFFIXES:
        raise UserError(f"{file}: the name of a scenario ends in {' or '.join(SUFFIXES)}")
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(new_text())
    except FileExistsError:
        raise UserError(f"{file}: is there already; give another name") from None
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
    typer.echo(f"{file}: written; next: mptcplab run {shlex.quote(str(file))}")
