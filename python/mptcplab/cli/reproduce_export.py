"""`reproduce`: tables and pictures as files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.export import write_figure, write_table
from mptcplab.report.export import TABLES
from mptcplab.reproduction.beside import Account
from mptcplab.reproduction.export import drawings, tables
from mptcplab.reproduction.pictures import Picture


def export_items(
    accounts: Sequence[Account],
    pictures: Sequence[Sequence[Sequence[Picture]]],
    folder: Path,
    suffixes: Sequence[str],
    inches: float,
) -> None:
    """Writes the tables and pictures of the items of documents, a file a suffix and each."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made: {error.strerror}") from error
    files: list[Path] = []
    for account, own in zip(accounts, pictures, strict=True):
        stem = account.document.name
        for suffix in suffixes:
            for item, drawn in zip(account.items, own, strict=True):
                if f".{suffix}" in TABLES:
                    for name, frame in tables(item, drawn):
                        files.append(folder / f"{stem}-{name}.{suffix}")
                        write_table(frame, files[-1])
                else:
                    for name, drawing in drawings(item, drawn):
                        files.append(folder / f"{stem}-{name}.{suffix}")
                        write_figure(drawing(inches), files[-1])
    typer.echo(f"exported: {len(files)} files to {folder}", err=True)
