"""`reproduce`: the documents' tables and figures, run, compared and shown."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import FINDING_STATUS, UserError
from mptcplab.cli.export import inches_of
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.output import console, json_text
from mptcplab.cli.progress import display
from mptcplab.engine.job import EngineError, Job
from mptcplab.progress import RunProgress
from mptcplab.recording import RecordingError
from mptcplab.reproduction import expected, folder, reading, running
from mptcplab.reproduction.beside import Account, account
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.marks import RED
from mptcplab.reproduction.model import Document
from mptcplab.scenario import ScenarioError
from mptcplab.scenario.units import UnitError, parse_time
from mptcplab.session import fresh_folder

if TYPE_CHECKING:
    from mptcplab.reproduction.pictures import Picture

ALL = "all"
EXPORTS = "export"
"""The folder of the files of tables and pictures within that of a reproduction."""


@dataclass(frozen=True)
class ReproduceOptions:
    """The command's options."""

    documents: tuple[str, ...]
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    engine: str
    quick: bool
    repetitions: int | None
    duration: str | None
    seed: int
    workers: int | None
    out: Path | None
    exports: tuple[str, ...]
    """Suffixes of the files of tables and pictures."""
    width: str
    fail: bool
    as_json: bool


def reproduce_documents(options: ReproduceOptions) -> None:
    """Runs what the chosen tables and figures need, and shows them beside the document's."""
    documents = _documents(options)
    manner = _manner(options)
    inches = inches_of(options.width)
    out = options.out or fresh_folder("-".join(["reproduce", *options.documents]))
    interruption = Interruption()
    try:
        parts = [running.parts(document, manner) for document in documents]
        known = [expected.read(document.name, manner.engine) for document in documents]
        with folder.opened(out, manner), interruption.listening():
            failures = _run(documents, parts, out, manner, options, interruption)
            accounts = [
                account(document, running.measured(own, out, lengths.get(manner.length, {})))
                for document, own, lengths in zip(documents, parts, known, strict=True)
            ]
            drawn = _show(accounts, manner, out, options)
            if options.exports:
                from mptcplab.cli.reproduce_export import export_items

                export_items(accounts, drawn, out / EXPORTS, options.exports, inches)
    except (ScenarioError, RecordingError, EngineError) as error:
        raise UserError(str(error)) from error
    if failures:
        raise UserError("\n".join(dict.fromkeys(failures)))
    if interruption.requested:
        again = shlex.join(["mptcplab", *_words(options, out)])
        typer.echo(f"interrupted: what was measured is kept, go on with: {again}", err=True)
        raise typer.Exit(INTERRUPTED_STATUS)
    if options.fail and any(one.counts()[mark] for one in accounts for mark in RED):
        raise typer.Exit(FINDING_STATUS)


def _documents(options: ReproduceOptions) -> list[Document]:
    asked = options.documents or (ALL,)
    names = reading.names() if ALL in asked else list(dict.fromkeys(asked))
    if (ALL in asked or len(names) > 1) and (options.tables or options.figures):
        raise UserError("--table and --figure are of one document: name it")
    try:
        documents = map(reading.read, names)
        return [reading.chosen(one, options.tables, options.figures) for one in documents]
    except reading.UnknownNameError as error:
        raise UserError(str(error)) from None


def _manner(options: ReproduceOptions) -> Manner:
    if options.duration is not None:
        try:
            parse_time(options.duration, usual="s")
        except UnitError as error:
            raise UserError(f"--duration: {error}") from None
    return Manner(
        engine=options.engine,
        seed=options.seed,
        quick=options.quick,
        repetitions=options.repetitions,
        duration=options.duration,
        workers=options.workers,
    )


def _run(
    documents: Sequence[Document],
    parts: Sequence[Sequence[running.Part]],
    out: Path,
    manner: Manner,
    options: ReproduceOptions,
    interruption: Interruption,
) -> list[str]:
    def followed(planned: Sequence[Job], name: str) -> RunProgress:
        shown = None if options.as_json else display(name, len(planned))
        return RunProgress(planned, name, shown)

    every = [part for own in parts for part in own]
    for part in every:
        for reason in dict.fromkeys(part.refusals.values()):
            refused = [name for name, why in part.refusals.items() if why == reason]
            words = f"{part.need.scenario} {', '.join(refused)}: not run: {reason}"
            typer.echo(words, err=True)
    progressed = running.run(
        every,
        out,
        manner,
        command=("mptcplab", *sys.argv[1:]),
        followed=followed,
        interruption=interruption,
    )
    names = ", ".join(document.name for document in documents)
    typer.echo(f"{names}: runs found: {progressed.found}, done: {progressed.done}", err=True)
    return list(progressed.failures)


def _show(
    accounts: Sequence[Account], manner: Manner, out: Path, options: ReproduceOptions
) -> Sequence[Sequence[Sequence[Picture]]]:
    """Writes pages and JSON, prints the tables or JSON, and gives the pictures."""
    # Slow to load: not before the runs.
    from mptcplab.reproduction.html import to_html
    from mptcplab.reproduction.json import to_json
    from mptcplab.reproduction.pictures import pictures as pictures_of
    from mptcplab.reproduction.terminal import to_terminal

    drawn = [pictures_of(one, out) for one in accounts]
    objects = [to_json(one, manner, own) for one, own in zip(accounts, drawn, strict=True)]
    if options.as_json:
        typer.echo(json_text(objects[0] if len(objects) == 1 else objects))
    else:
        screen = console()
        for one in accounts:
            to_terminal(one, screen)
    command = shlex.join(["mptcplab", *_words(options, None)])
    for one, told, own in zip(accounts, objects, drawn, strict=True):
        stem = out / _stem(one, options)
        page = stem.with_name(f"{stem.name}.html")
        page.write_text(to_html(one, manner, own, command), encoding="utf-8")
        stem.with_name(f"{stem.name}.json").write_text(f"{json_text(told)}\n", encoding="utf-8")
        incomplete = [
            item.name
            for item, pictures in zip(one.document.items, own, strict=True)
            if any(picture.missing for picture in pictures)
        ]
        if incomplete:
            words = f"{one.document.name}: a picture is missing, or lacks variants"
            typer.echo(f"{words}: {', '.join(incomplete)}", err=True)
        typer.echo(f"page: {page}", err=True)
    return drawn


def _stem(one: Account, options: ReproduceOptions) -> str:
    """The name of a page: a part of a document does not take the place of the whole."""
    parts = [one.document.name]
    parts += ["table", *options.tables] if options.tables else []
    parts += ["figure", *options.figures] if options.figures else []
    return "-".join(parts)


def _words(options: ReproduceOptions, out: Path | None) -> list[str]:
    """The command's words, without those of the machine."""
    words = ["reproduce", *(options.documents or (ALL,))]
    for name, value in (
        *(("table", number) for number in options.tables),
        *(("figure", number) for number in options.figures),
        ("engine", options.engine),
        ("repeat", options.repetitions),
        ("duration", options.duration),
        ("seed", None if options.seed == 1 else options.seed),
        ("out", out),
        *(("export", suffix) for suffix in (options.exports if out else ())),
        ("width", options.width if out and options.exports else None),
    ):
        words += [] if value is None else [f"--{name}", str(value)]
    return [*words, *(["--quick"] if options.quick else [])]
