"""What several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A name of the catalogue, or a YAML file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LeaveSetting = Annotated[
    bool, typer.Option("--leave-setting", help="Leave net.mptcp.path_manager as it is.")
]
