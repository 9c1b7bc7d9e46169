"""`list`, `show` and `check`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, ScenarioName


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
        Path | None, typer.Option("--svg", help="Write the drawing to this SVG file.")
    ] = None,
    json: Json = False,
) -> None:
    """Draw a scenario's network and tell what it runs."""
    from mptcplab.cli.scenarios import show_scenario

    show_scenario(scenario, svg, as_json=json)


def check(
    files: Annotated[list[str], typer.Argument(metavar="SCENARIO...")], json: Json = False
) -> None:
    """Check scenarios and name every mistake with its line and its mend."""
    from mptcplab.cli.scenarios import check_scenarios

    check_scenarios(files, as_json=json)
