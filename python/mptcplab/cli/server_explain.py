"""`server explain`: why MPTCP was as slow as it was in a result, and what to change."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.explain import Shown, ended_by_signals
from mptcplab.cli.output import console, json_text
from mptcplab.cli.probe_show import print_sentences, print_tables
from mptcplab.cli.server_manage import opened
from mptcplab.engine.job import EngineError
from mptcplab.fit import FitError, explained, why
from mptcplab.server import intake
from mptcplab.server.store import explanations, results
from mptcplab.server.store.connection import changing


def explain_result(folder: Path | None, own: str, *, as_json: bool) -> None:
    """Explains a result, by its id, and keeps that for its page.

    Raises:
        UserError: there is none, or nothing can be explained.

    """
    with opened(folder) as connection:
        content = results.content(connection, own)
    if content is None:
        raise UserError(f"{own}: there is no result of this identifier: its page has it")
    kept, _ = intake.read_kept(content)
    try:
        with ended_by_signals(), ExitStack() as shown:
            fit = explained(intake.figures_of(kept), follow=Shown(shown, is_quiet=as_json))
    except (FitError, EngineError) as error:
        raise UserError(f"{own}: {error}") from None
    told = why(fit)
    with opened(folder) as connection, changing(connection):
        explanations.keep(connection, own, json.dumps(asdict(told)))
    if as_json:
        typer.echo(json_text(fit.to_json()))
        return
    screen = console()
    print_tables(screen, told.tables)
    print_sentences(screen, told)
