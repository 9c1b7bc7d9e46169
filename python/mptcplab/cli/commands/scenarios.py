"""`list`, `show`, `check`, `new` and `schema`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, ScenarioName, path
from mptcplab.shortage import ask


def list_command(
    pattern: Annotated[str, typer.Argument(help="Part of a name, or a pattern with *.")] = "*",
    json: Json = False,
) -> None:
    """List the catalogue of scenarios."""
    from mptcplab.cli.scenarios import list_scenarios

    list_scenarios(pattern, as_json=json)


def show(
    scenario: ScenarioName,
    svg: Annotated[
        Path | None, typer.Option("--svg", parser=path, help="Write the drawing to this SVG file.")
    ] = None,
    json: Json = False,
) -> None:
    """Draw a scenario's network and tell what it runs."""
    ask()
    from mptcplab.cli.scenarios import show_scenario

    show_scenario(scenario, svg, as_json=json)


def check(
    files: Annotated[list[str], typer.Argument(metavar="SCENARIO...")], json: Json = False
) -> None:
    """Check scenarios and name every mistake with its line and a hint."""
    ask()
    from mptcplab.cli.scenarios import check_scenarios

    check_scenarios(files, as_json=json)


def new(
    file: Annotated[
        Path, typer.Argument(parser=path, help="The file to write; it must not be there yet.")
    ],
) -> None:
    """Write a commented scenario to start from."""
    from mptcplab.cli.scenarios import write_new_scenario

    write_new_scenario(file)


def schema() -> None:
    """Print the JSON Schema of scenarios, for editors."""
    from mptcplab.scenario.schema import schema_text

    typer.echo(schema_text(), nl=False)
