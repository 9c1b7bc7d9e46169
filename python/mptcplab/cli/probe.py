"""`probe`: paths to a target, measured and judged."""

from __future__ import annotations

import os
import re
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mptcplab import _native
from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.output import Stream, console, json_text
from mptcplab.cli.probe_show import print_sentences, print_tables
from mptcplab.measure.endpoints import Held, held_endpoints
from mptcplab.measure.figures import Figures, Measured, figures
from mptcplab.measure.plan import (
    LEAST_SIZE,
    MOST_PATHS,
    Step,
    choose_sizes,
    loads,
    most_bytes,
    steps,
)
from mptcplab.measure.plan_words import plan_lines
from mptcplab.measure.session import STOPPED, Progress, Session
from mptcplab.measure.verdict import verdict
from mptcplab.measure.words import digits, size_words
from mptcplab.scenario.units import UnitError, parse_size
from mptcplab.user_file import FileError, read_text

if TYPE_CHECKING:
    from mptcplab.fit import MeasuredFit
    from mptcplab.measure.render import Why

PORT = 4420
"""The target's, where none is given."""
TOKEN_VARIABLE = "MPTCPLAB_TOKEN"
_TARGET = re.compile(
    r"\[(?P<v6>[^\]]+)\](:(?P<port6>[0-9]{1,5}))?|(?P<host>[^:]+)(:(?P<port>[0-9]{1,5}))?"
)
_MOST_SIZES = 8
_LARGEST_SIZE = 10**12
_MOST_TOKEN_BYTES = 64 << 10


@dataclass(frozen=True)
class Options:
    """The options of `probe`."""

    target: str
    token: str | None
    token_file: Path | None
    budget: str
    sizes: str | None
    repeat: int
    seed: int
    leave_endpoints: bool
    explain: bool
    html: Path | None


def run_probe(options: Options, *, as_json: bool) -> None:
    """Measures, and prints the verdict.

    Raises:
        UserError: a mistake in the options, or a target that is not reached or refuses.

    """
    host, port = parse_target(options.target)
    token = _token(options)
    budget = _size("--budget", options.budget)
    if options.html is not None:
        _check_place(options.html)
    interruption = Interruption()
    with interruption.listening():
        try:
            session = Session(host, port, token, lambda: not interruption.requested)
        except _native.MeasureStopped:
            raise typer.Exit(INTERRUPTED_STATUS) from None
        except _native.MeasureError as error:
            raise UserError(str(error)) from None
        planned = _planned(options, session, budget)
        measured = _measured(options, session, planned, budget, interruption)
    result = figures(measured)
    explained = _explained(result, is_quiet=as_json) if _is_explained(options, measured) else None
    _show(result, explained, as_json=as_json)
    if options.html is not None:
        _write_page(result, explained, options.target, options.html)
    if interruption.requested:
        raise typer.Exit(INTERRUPTED_STATUS)
    if measured.is_lost:
        raise UserError(f"{measured.partial}: what was measured until then is shown")


def parse_target(text: str) -> tuple[str, int]:
    """Host and port of `host`, `host:4420`, `[::1]:4420` or `::1`.

    Raises:
        UserError: the text is none.

    """
    if text.count(":") > 1 and "[" not in text:
        return text, PORT
    found = _TARGET.fullmatch(text)
    port = PORT if found is None else int(found["port6"] or found["port"] or PORT)
    if found is None or not 0 < port < 1 << 16:
        raise UserError(f"{text}: write a host, and its port where it is not {PORT}: host:{PORT}")
    return found["v6"] or found["host"], port


def _token(options: Options) -> str:
    if options.token is not None and options.token_file is not None:
        raise UserError("--token and --token-file: give one of them")
    if options.token_file is not None:
        try:
            text = read_text(options.token_file, _MOST_TOKEN_BYTES)
        except FileError as error:
            raise UserError(f"--token-file {options.token_file}: {error}") from None
        return text.partition("\n")[0]
    token = options.token or os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise UserError(
            f"a token is wanted: give --token, --token-file or {TOKEN_VARIABLE}; "
            "`mptcplab target` prints it when it starts"
        )
    return token


def _size(option: str, text: str) -> int:
    try:
        return parse_size(text)
    except UnitError as error:
        raise UserError(f"{option} {text}: {error}") from None


def _planned(options: Options, session: Session, budget: int) -> list[Step]:
    """All experiments, within the budget.

    Raises:
        UserError: the budget does not allow them.

    """
    paths = len(session.paths)
    if not paths:
        raise UserError(f"{options.target}: no local address reaches it")
    allowed, limit = budget, f"--budget {options.budget}"
    volume = session.volume_left_bytes
    if volume is not None and volume < budget:
        allowed, limit = volume, f"{size_words(volume)} that the target leaves for this token today"
    left = max(allowed - session.used_bytes, 0)
    fast_open = session.settings.no_fast_open() is None
    if options.sizes is None:
        sizes = choose_sizes(left, paths, options.repeat, fast_open=fast_open)
        told = f"{options.repeat} repetitions of the smallest transfers"
    else:
        texts = [text.strip() for text in options.sizes.split(",")]
        sizes = tuple(sorted({_size("--sizes", text) for text in texts}))
        told = f"{options.repeat} repetitions of these sizes"
        if len(sizes) > _MOST_SIZES or not 0 < sizes[0] <= sizes[-1] <= _LARGEST_SIZE:
            raise UserError(f"--sizes {options.sizes}: at most {_MOST_SIZES}, from 1 B to 1000 GB")
    chosen = sizes or (LEAST_SIZE,)
    planned = steps(paths, chosen, options.repeat, options.seed, fast_open=fast_open)
    most = most_bytes(planned, paths)
    if not sizes or most > left:
        raise UserError(
            f"{limit}: {told} over {paths} path{'s' if paths > 1 else ''} may "
            f"use {size_words(most + session.used_bytes)}: allow more, or ask for fewer (--repeat)"
        )
    return planned + loads(paths, left - most)


def _measured(
    options: Options,
    session: Session,
    planned: list[Step],
    budget: int,
    interruption: Interruption,
) -> Measured:
    most = most_bytes(planned, len(session.paths)) + session.used_bytes
    names = ", ".join(f"{path.interface} ({path.source})" for path in session.paths)
    _tell(f"paths to {session.target}: {names}")
    if session.left_out:
        names = ", ".join(path.interface for path in session.left_out)
        _tell(f"only the first {MOST_PATHS} are taken; left out: {names}")
    if session.rate_limit_bps is not None:
        rate = digits(session.rate_limit_bps / 1e6, 3)
        _tell(f"the target limits experiments to {rate} Mbit/s: what is near that is not judged")
    _tell(f"at most {size_words(most)} will be used ({len(planned)} experiments):")
    for line in plan_lines(planned, session.settings):
        _tell(f"  {line}")
    progress = _Progress(interruption)
    is_wanted = not options.leave_endpoints
    data = (session.target, session.data_port)
    holding = held_endpoints(session.paths, *data) if is_wanted else nullcontext(Held())
    with holding as held:
        if held.added:
            _tell(f"endpoints for as long as it lasts: {', '.join(held.added)}")
        if held.unused:
            _tell(f"endpoints that are not used meanwhile: {', '.join(held.unused)}")
        is_one = len(session.paths) == 1
        if held.refusal is not None and not is_one:
            _tell(f"no endpoints can be added: {held.refusal}")
        # Those that were not added were there.
        is_known = is_wanted and held.refusal is None and not is_one
        endpoints = tuple(path.source for path in session.paths) if is_known else None
        limit = min(budget, most)
        measured = session.run(planned, limit, endpoints, options.seed, progress.show)
    progress.end()
    _tell(f"{size_words(measured.used_bytes)} were used")
    return measured


class _Progress:
    """Shows how far it is: always at a terminal, else at each tenth."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption
        self._shown = -1
        stream = sys.stderr
        self._terminal = stream if isinstance(stream, Stream) and stream.isatty() else None

    def show(self, now: Progress) -> bool:
        """Whether to go on."""
        part = now.done * 10 // now.of
        if self._terminal is not None:
            text = f"\r{now.done * 100 // now.of:3} % done, {size_words(now.used_bytes)} used   "
            self._terminal.inner.write(text)
            self._terminal.flush()
        elif part != self._shown:
            _tell(f"probe: {part * 10} % done")
        self._shown = part
        return not self._interruption.requested

    def end(self) -> None:
        """Ends the line of a terminal."""
        if self._terminal is not None and self._shown >= 0:
            self._terminal.write("\n")


def _tell(text: str) -> None:
    typer.echo(text, err=True)


@dataclass(frozen=True)
class _Explained:
    """The findings of `--explain`."""

    why: Why
    fit: MeasuredFit | None = None
    """Null where nothing could be fitted."""

    def to_json(self) -> dict[str, Any]:
        return {"untried": self.why.sentences[0]} if self.fit is None else self.fit.to_json()


def _is_explained(options: Options, measured: Measured) -> bool:
    return options.explain and measured.partial != STOPPED


def _explained(result: Figures, *, is_quiet: bool) -> _Explained:
    from mptcplab.cli.explain import Shown, ended_by_signals
    from mptcplab.engine.job import EngineError
    from mptcplab.fit import FitError, explained, untold, why

    try:
        with ended_by_signals(), ExitStack() as shown:
            fit = explained(result, follow=Shown(shown, is_quiet=is_quiet))
    except FitError as error:
        return _Explained(untold(str(error)))
    except EngineError as error:
        raise UserError(str(error)) from None
    return _Explained(why(fit), fit)


def _show(result: Figures, explained: _Explained | None, *, as_json: bool) -> None:
    from mptcplab.measure.render import tables, to_json

    if as_json:
        own = {} if explained is None else {"explanation": explained.to_json()}
        typer.echo(json_text(to_json(result) | own))
        return
    screen = console()
    print_tables(screen, [*tables(result), *(() if explained is None else explained.why.tables)])
    for sentence in verdict(result):
        screen.print(sentence, markup=False, highlight=False)
    if explained is not None:
        print_sentences(screen, explained.why)


def _check_place(file: Path) -> None:
    """Before the measurement: whether a page can be written there.

    Raises:
        UserError: it cannot.

    """
    folder = file.absolute().parent
    reason = None
    if file.is_dir():
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif not os.access(file if file.exists() else folder, os.W_OK):
        reason = "it may not be written"
    if reason is not None:
        raise UserError(f"--html {file}: {reason}")


def _write_page(result: Figures, explained: _Explained | None, target: str, file: Path) -> None:
    from mptcplab.measure.html import to_html

    created = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    try:
        why = None if explained is None else explained.why
        file.write_text(to_html(result, target, created, why), encoding="utf-8")
    except OSError as error:
        raise UserError(f"--html {file}: {error.strerror}") from None
