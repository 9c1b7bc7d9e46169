"""`list`, `show` and `check`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.scenario import Problem, Scenario, ScenarioError, catalogue, load


def load_scenario(name: str) -> Scenario:
    """Loads a scenario for a command; its problems become one message."""
    try:
        return with_known_metrics(load(name))
    except ScenarioError as error:
        raise UserError(str(error)) from error


def with_known_metrics(scenario: Scenario) -> Scenario:
    """The scenario, whose findings and references name metrics that there are.

    Raises:
        ScenarioError: some do not.

    """
    from mptcplab.metrics import unknown_metrics

    problems = unknown_metrics(scenario)
    if problems:
        raise ScenarioError(problems)
    return scenario


def list_scenarios(pattern: str, *, as_json: bool) -> None:
    """Prints the catalogue's entries that match."""
    entries = catalogue(pattern)
    if as_json:
        rows = [
            {"name": e.name, "title": e.title, "source": e.source, "variants": list(e.variants)}
            for e in entries
        ]
        typer.echo(json.dumps(rows, indent=1))
        return
    if not entries:
        raise UserError(f"no scenario matches '{pattern}'; `mptcplab list` shows all")
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        typer.echo(f"{entry.name:{width}}  {entry.title}  [{', '.join(entry.variants)}]")


def show_scenario(name: str, svg: Path | None, *, as_json: bool) -> None:
    """Prints, or writes as SVG, what a scenario describes."""
    from mptcplab.scenario.draw_svg import draw_svg
    from mptcplab.scenario.draw_text import draw_text

    scenario = load_scenario(name)
    if svg is not None:
        try:
            svg.write_text(draw_svg(scenario))
        except OSError as error:
            raise UserError(f"{svg}: cannot be written: {error.strerror}") from error
    if as_json:
        typer.echo(scenario.model_dump_json(indent=1, exclude_none=True))
    else:
        typer.echo(draw_text(scenario))
        typer.echo("Engines")
        for line in _engine_words(scenario):
            typer.echo(f"  {line}")


def _engine_words(scenario: Scenario) -> Iterator[str]:
    """Each engine, with what it cannot do of the scenario on any machine."""
    from mptcplab.engine.choice import KERNEL, SIM, impossible
    from mptcplab.scenario.tree import dotted

    for engine in (KERNEL, SIM):
        found = impossible(engine, scenario, list(scenario.variants))
        reasons = [
            f"{refusal.reason} ({', '.join([dotted(refusal.path or ()), *refusal.variants])})"
            for refusal in found
        ]
        yield f"{engine}: no, {'; '.join(reasons)}" if reasons else engine


def _only_on(scenario: Scenario) -> str:
    """What to add for a scenario that not every engine can run."""
    from mptcplab.engine.choice import KERNEL, SIM, impossible

    able = [e for e in (KERNEL, SIM) if not impossible(e, scenario, list(scenario.variants))]
    if len(able) == 1:
        return f" ({able[0]} engine only)"
    return "" if able else " (no engine can run all of it)"


def check_scenarios(names: Sequence[str], *, as_json: bool) -> None:
    """Prints every problem of every file; exit status 1 when there is any."""
    problems: list[Problem] = []
    for name in names:
        try:
            scenario = with_known_metrics(load(name))
        except ScenarioError as error:
            problems.extend(error.problems)
        else:
            if not as_json:
                typer.echo(f"{name}: good{_only_on(scenario)}")
    if as_json:
        rows = [
            {"file": p.origin, "line": p.line, "key": p.key, "message": p.text} for p in problems
        ]
        typer.echo(json.dumps({"problems": rows}, indent=1))
    else:
        for problem in problems:
            typer.echo(str(problem), err=True)
    if problems:
        raise typer.Exit(1)
