"""`debug`: a session at a prompt, from a script, and as JSON for programs."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer

from mptcplab.cli.debug_commands import Interpreter
from mptcplab.cli.debug_show import shown
from mptcplab.cli.errors import UserError
from mptcplab.cli.output import console
from mptcplab.cli.run import override
from mptcplab.debugger import DebugError, debug, debug_failure
from mptcplab.printable import printable
from mptcplab.recording import RecordingError
from mptcplab.scenario import ScenarioError
from mptcplab.user_file import FileError, read_text

_LARGEST_SCRIPT_BYTES = 1 << 20
_PROMPT = "(debug) "


def debug_scenario(
    scenario: str,
    variant: str | None,
    seed: int,
    duration: str | None,
    overrides: Sequence[str],
    script: Path | None,
    *,
    as_json: bool,
) -> None:
    """Opens a session of a scenario, and takes lines from a script or from standard input."""
    try:
        values = dict(map(override, overrides))
        session = debug(scenario, variant=variant, seed=seed, duration=duration, set=values)
    except (ScenarioError, DebugError) as error:
        raise UserError(str(error)) from error
    begin = _begin(scenario, variant, seed, duration, overrides)
    _take(Interpreter(session, begin), script, as_json=as_json)


def debug_result(
    folder: str, at_finding: int | None, script: Path | None, *, as_json: bool
) -> None:
    """Opens a session of a result where something failed, says what, and takes lines."""
    try:
        session, failed = debug_failure(folder, at_finding=at_finding)
    except (RecordingError, ScenarioError, DebugError) as error:
        raise UserError(str(error)) from error
    words = ["mptcplab", "debug", folder]
    words += [] if at_finding is None else ["--at-finding", str(at_finding)]
    told = {"opened": failed.words, "now_ns": session.now_ns}
    typer.echo(json.dumps(told) if as_json else printable(failed.words))
    _take(Interpreter(session, shlex.join(words)), script, as_json=as_json)


def _take(interpreter: Interpreter, script: Path | None, *, as_json: bool) -> None:
    """Takes lines from a script, from a terminal or from standard input."""
    if script is not None:
        _run_script(interpreter, script, as_json=as_json)
    elif sys.stdin.isatty():
        _talk(interpreter, as_json=as_json)
    else:
        lines = (line.rstrip("\n") for line in sys.stdin)
        _run_lines(interpreter, lines, "standard input", as_json=as_json)


def _begin(
    scenario: str, variant: str | None, seed: int, duration: str | None, overrides: Sequence[str]
) -> str:
    """The command that opens such a session."""
    words = ["mptcplab", "debug", scenario, "--seed", str(seed)]
    words += [] if variant is None else ["--variant", variant]
    words += [] if duration is None else ["--duration", duration]
    for one in overrides:
        words += ["--set", one]
    return shlex.join(words)


def _run_script(interpreter: Interpreter, script: Path, *, as_json: bool) -> None:
    try:
        text = read_text(script, _LARGEST_SCRIPT_BYTES)
    except FileError as error:
        raise UserError(f"{script}: {error}") from error
    _run_lines(interpreter, text.splitlines(), str(script), as_json=as_json)


def _run_lines(
    interpreter: Interpreter, lines: Iterable[str], source: str, *, as_json: bool
) -> None:
    for number, line in enumerate(lines, 1):
        try:
            _carry_out(interpreter, line, as_json=as_json)
        except DebugError as error:
            raise UserError(f"{source}:{number}: {error}") from error
        if interpreter.has_ended:
            return


def _talk(interpreter: Interpreter, *, as_json: bool) -> None:
    """Asks for lines; a mistake is told, and the session goes on."""
    for line in _typed(interpreter):
        try:
            _carry_out(interpreter, line, as_json=as_json)
        except DebugError as error:
            console(stderr=True).print(printable(str(error)), markup=False, highlight=False)
        except KeyboardInterrupt:
            typer.echo(f"stopped at {interpreter.session.now_ns / 1e9:.9f} s")
        if interpreter.has_ended:
            return


def _typed(interpreter: Interpreter) -> Iterator[str]:
    """Lines of a terminal, with history and completion where Python has readline."""
    try:
        import readline
    except ImportError:
        pass
    else:
        readline.set_completer_delims(" ")
        readline.set_completer(interpreter.complete)
        readline.parse_and_bind("tab: complete")
    while True:
        try:
            yield input(_PROMPT)
        except EOFError:
            typer.echo("")
            return
        except KeyboardInterrupt:
            typer.echo("")


def _carry_out(interpreter: Interpreter, line: str, *, as_json: bool) -> None:
    answer = interpreter.carry_out(line)
    if answer is None:
        return
    if as_json:
        typer.echo(json.dumps(answer.to_json()))
        return
    shown(answer, console())
