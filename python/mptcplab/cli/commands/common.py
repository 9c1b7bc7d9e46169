"""Options and arguments that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

E = TypeVar("E", bound=StrEnum)

ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A name of the catalogue, or a YAML file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Say why MPTCP was as slow as it was: tried in the simulator, and kept in the folder.",
    ),
]
Fail = Annotated[
    bool, typer.Option("--fail", help="End with status 3 where a finding does not hold.")
]

Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", help="goodput, say; repeat for more."),
]
TableFile = Annotated[
    Path | None,
    typer.Option(
        "--table",
        parser=lambda text: path(text),
        metavar="FILE",
        help="Write .csv, .parquet, .tex.",
    ),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(
        "--figure", parser=lambda text: path(text), metavar="FILE", help="Write .png, .svg or .pdf."
    ),
]
Width = Annotated[
    str, typer.Option("--width", metavar="WIDTH", help="Of the figure: a paper's column is 84mm.")
]


def one_of(kind: type[E]) -> Callable[[str], E]:
    """The parser of an option that takes one of some words."""

    def parse(text: str) -> E:
        from mptcplab.scenario.problem import did_you_mean

        try:
            return kind(text)
        except ValueError:
            raise typer.BadParameter(f"'{text}': {did_you_mean(text, list(kind))}") from None

    return parse


def path(text: str) -> Path:
    """The parser of options that name a file or a folder."""
    if not text:
        # The shell makes an empty word of a variable that is not set.
        raise typer.BadParameter("is empty: name a file or folder")
    return Path(text)
