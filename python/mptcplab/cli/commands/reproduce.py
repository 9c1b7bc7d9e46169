"""`reproduce`: the options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, Width, one_of, path
from mptcplab.shortage import ask


class ExportFormat(StrEnum):
    """A format of tables, or of pictures; the suffix of the file."""

    CSV = "csv"
    PARQUET = "parquet"
    TEX = "tex"
    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


class ReproductionEngine(StrEnum):
    """Where a document is reproduced."""

    KERNEL = "kernel"
    SIM = "sim"


def reproduce(
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOCUMENT]...", help="Names of documents; all unless given."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="This table alone: 6.4, say; may be repeated."),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="This figure alone: 6.11, say; may be repeated."),
    ] = None,
    engine: Annotated[
        ReproductionEngine,
        typer.Option(
            parser=one_of(ReproductionEngine),
            metavar="|".join(ReproductionEngine),
            help="The real stack, or virtual time.",
        ),
    ] = ReproductionEngine.SIM,
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs, each once: minutes for all documents.")
    ] = False,
    repeat: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Repetitions of each variant.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Longest duration of bulk transfers in which the network does not change.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 1,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            help="Runs at once; unless given one a core if simulated, one on the kernel.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=path, metavar="DIR", help="Folder of pages and recordings; goes on in it again."
        ),
    ] = None,
    export: Annotated[
        list[ExportFormat] | None,
        typer.Option(
            parser=one_of(ExportFormat),
            metavar="|".join(ExportFormat),
            help="Write each table, or each picture, as a file of its own; may be repeated.",
        ),
    ] = None,
    width: Width = "84mm",
    fail: Annotated[
        bool,
        typer.Option("--fail", help="End with status 3 where a difference is not explained."),
    ] = False,
    json: Json = False,
) -> None:
    """Make the documents' tables and figures, theirs beside ours."""
    ask()
    from mptcplab.cli.reproduce import ReproduceOptions, reproduce_documents

    reproduce_documents(
        ReproduceOptions(
            documents=tuple(documents or ()),
            tables=tuple(dict.fromkeys(table or ())),
            figures=tuple(dict.fromkeys(figure or ())),
            engine=engine.value,
            quick=quick,
            repetitions=repeat,
            duration=duration,
            seed=seed,
            workers=workers,
            out=out,
            exports=tuple(dict.fromkeys(one.value for one in export or ())),
            width=width,
            fail=fail,
            as_json=json,
        )
    )
