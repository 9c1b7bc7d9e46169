"""`explain`: why MPTCP was as slow as it was, and what helps."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.text import Text

from mptcplab.cli import INTERRUPTED_STATUS
from mptcplab.cli.errors import UserError
from mptcplab.cli.output import console, json_text
from mptcplab.cli.progress import display
from mptcplab.engine.job import EngineError, Job
from mptcplab.explanation import (
    Cause,
    ConnectionAccount,
    Explanation,
    Remedy,
    explain_and_keep,
    explain_result,
)
from mptcplab.explanation.kept import FILE, keep, kept
from mptcplab.explanation.of_result import opened, result_of, scenario_of, worst
from mptcplab.explanation.proof import proven
from mptcplab.explanation.trials import Follow
from mptcplab.explanation.words import change_words, commands, cost_words, gain_words, sentences
from mptcplab.metrics import measure
from mptcplab.progress import RunProgress
from mptcplab.recording import RecordingError, Result
from mptcplab.report.layout import Column, Kind, laid_out
from mptcplab.scenario import ScenarioError

_ROWS = 5
"""Remedies in the terminal; --json has all."""


@dataclass(frozen=True)
class Asked:
    """The command's options."""

    against: str | None
    workers: int | None
    remedies: bool
    trials: bool
    prove: bool
    as_json: bool

    @property
    def is_whole(self) -> bool:
        """Whether all is asked for that a result's folder keeps."""
        return self.remedies and self.trials


def explain_folder(folder: Path, asked: Asked) -> None:
    """Explains the result or the recording in a folder; a whole explanation is kept there."""
    against = asked.against
    try:
        result = opened(folder)
        beside = None if against is None else _against(result, against)
        with ended_by_signals(), ExitStack() as shown:
            follow = Shown(shown, is_quiet=asked.as_json)
            told = _told(result, asked, follow)
    except (RecordingError, ScenarioError, EngineError) as error:
        raise UserError(str(error)) from error
    if asked.as_json:
        own = told.to_json()
        if against is not None:
            own["against"] = {"variant": against, "goodput_mbps": beside}
        typer.echo(json_text(own))
        return
    screen = console()
    is_one_of_many = not result.is_one_recording and result.description.repetitions > 1
    for sentence in sentences(told, against, beside, is_one_of_many=is_one_of_many):
        screen.print(Text(sentence))
    _print_tables(told)


def _told(result: Result, asked: Asked, follow: Follow) -> Explanation:
    """The explanation that is kept, where all is asked for that it has; or else a new one."""
    is_kept = asked.is_whole and not result.is_one_recording
    told = kept(result.folder) if is_kept else None
    if told is not None:
        if not asked.as_json:
            typer.echo(f"kept in {result.folder / FILE}: delete it to explain anew", err=True)
    else:
        told = explain_result(
            result,
            workers=asked.workers,
            remedies=asked.remedies,
            trials=asked.trials,
            follow=follow,
        )
        if is_kept:
            _keep(result.folder, told)
    if asked.prove and not told.proofs:
        recording = worst(result)
        told = proven(told, recording, scenario_of(recording), follow)
        if is_kept and told.proofs:
            _keep(result.folder, told)
    return told


def _keep(folder: Path, told: Explanation) -> None:
    """Keeps an explanation; one that cannot be kept is shown all the same."""
    try:
        keep(folder, told)
    except RecordingError as error:
        typer.echo(f"not kept: {error}", err=True)


def explained(result: Result, *, is_quiet: bool) -> Explanation:
    """The explanation that a result keeps, or a new one, which it keeps from then on."""
    try:
        with ended_by_signals(), ExitStack() as shown:
            return explain_and_keep(result, follow=Shown(shown, is_quiet=is_quiet))
    except (RecordingError, ScenarioError, EngineError) as error:
        raise UserError(str(error)) from error


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the trials, of which nothing is left."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted: nothing was explained", err=True)
        raise typer.Exit(INTERRUPTED_STATUS) from None
    finally:
        signal.signal(signal.SIGTERM, before)


class Shown:
    """Shows how far each round of trials is, on a terminal."""

    def __init__(self, shown: ExitStack, *, is_quiet: bool) -> None:
        """Shows on `shown`, which takes it down; nothing where it is quiet."""
        self._shown = shown
        self._is_quiet = is_quiet

    def __call__(self, jobs: Sequence[Job]) -> RunProgress:
        """Makes the progress of a round."""
        is_seen = not self._is_quiet and console(stderr=True).is_terminal
        bar = display("explain", len(jobs)) if is_seen else None
        # The bar of the round before goes first.
        self._shown.close()
        return self._shown.enter_context(RunProgress(jobs, "explain", bar))


def _print_tables(told: Explanation) -> None:
    screen = console()
    if told.connections:
        longest = max(told.connections, key=lambda one: one.duration_s)
        screen.print(*laid_out(_account(longest), screen), sep="")
    if told.causes:
        screen.print(*laid_out(_causes(told.causes), screen), sep="")
    if told.remedies:
        screen.print(*laid_out(remedy_columns(told.remedies[:_ROWS]), screen), sep="")
        for line in commands(told.remedies):
            screen.print(Text(f"  {line}"))


def _account(of: ConnectionAccount) -> list[Column]:
    """The longest times of a connection first, each beside that of its paths."""
    states = of.states
    columns = [
        Column("state", states, Kind.VALUE, is_left=True),
        Column("connection", [_seconds(of.account_s.get(state)) for state in states]),
    ]
    return columns + [
        Column(f"path {path}", [_seconds(times.get(state)) for state in states])
        for path, times in of.paths.items()
    ]


def _seconds(spent_s: float | None) -> str:
    return "" if spent_s is None else f"{spent_s:.2f} s"


def _causes(causes: Sequence[Cause]) -> list[Column]:
    return [
        Column("cause", [one.name for one in causes], Kind.WORDS, is_left=True),
        Column("path", [one.path or "" for one in causes], Kind.VALUE, is_left=True),
        Column("cost", [cost_words(one) for one in causes]),
        Column("evidence", ["; ".join(one.evidence) for one in causes], Kind.WORDS, is_left=True),
    ]


def remedy_columns(remedies: Sequence[Remedy]) -> list[Column]:
    """The table of changes that help."""
    columns = [
        Column("change", [change_words(one.change) for one in remedies], Kind.WORDS, is_left=True),
        Column("Mbit/s", [f"{one.goodput.mean:.1f}" for one in remedies]),
        Column("gain", [gain_words(one) for one in remedies]),
    ]
    others = [one.gain_of_others.mean for one in remedies if one.gain_of_others is not None]
    if others:
        columns.append(Column("others gain", [f"{mean or 0:+.1f}" for mean in others]))
    stock = ["yes" if one.change.stock_kernel else "no" for one in remedies]
    return [*columns, Column("stock kernel", stock)]


def _against(explained: Result, variant: str) -> float | None:
    """The goodput of a variant of the result; of that in which the recording lies."""
    whole = result_of(worst(explained)) if explained.is_one_recording else None
    result = whole or explained
    found = result.recordings(variant) if variant in result else []
    if not found:
        known = ", ".join(result)
        raise UserError(f"--against {variant}: there is no recording of it: choose one of {known}")
    return measure(found[0]).metrics.get("goodput")
