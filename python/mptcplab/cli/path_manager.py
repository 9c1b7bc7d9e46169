"""`path-manager`: who opens the subflows of this host's connections."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from itertools import pairwise
from threading import Thread

import typer

from mptcplab._native import PathManager, PathManagerError
from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import Interruption
from mptcplab.scenario.units import UnitError, parse_size

_SUBFLOWS_PER_PAIR = 2
"""Of ndiffports, unless more are wanted."""

_MOST_SUBFLOWS = 255
"""Of a connection, as `--most` has it."""

_SAYS_SOMETHING_FOR = {
    "--subflows": ("ndiffports",),
    "--prefer": ("handover",),
    "--backup": ("fullmesh",),
    "--after": ("ndiffports", "fullmesh"),
    "--refresh": ("ndiffports", "fullmesh", "handover"),
}


@dataclass(frozen=True)
class PathManagerOptions:
    """The command's options."""

    kind: str
    subflows: int | None
    prefer: tuple[str, ...]
    signal: bool
    refresh: bool
    most: int
    after: tuple[str, ...]
    backup: tuple[str, ...]
    leave_setting: bool
    as_json: bool


def manage_paths(options: PathManagerOptions) -> None:
    """Works until Ctrl-C."""
    _refuse_what_says_nothing(options)
    config = json.dumps(_config(options))
    _warn_of_absent_interfaces(options)
    try:
        daemon = PathManager(config, not options.leave_setting)
    except PathManagerError as error:
        raise UserError(str(error)) from error
    failed: list[BaseException] = []

    def work() -> None:
        try:
            daemon.run(lambda order, refused: _tell(order, refused, as_json=options.as_json))
        except BaseException as error:
            failed.append(error)

    interruption = Interruption(stop=daemon.stop)
    with interruption.listening():
        worker = Thread(target=work)
        worker.start()
        typer.echo("at work; Ctrl-C ends it", err=True)
        worker.join()
    for failure in failed:
        raise UserError(str(failure)) if isinstance(failure, PathManagerError) else failure


def _refuse_what_says_nothing(options: PathManagerOptions) -> None:
    given = {
        "--subflows": options.subflows,
        "--prefer": options.prefer,
        "--backup": options.backup,
        "--after": options.after,
        "--refresh": options.refresh,
    }
    for option, kinds in _SAYS_SOMETHING_FOR.items():
        if given[option] and options.kind not in kinds:
            raise UserError(
                f"{option} says nothing for {options.kind}: leave it out, or choose "
                + " or ".join(kinds)
            )
    if options.kind == "none" and not options.signal:
        raise UserError("none opens nothing: add --signal, or choose what it should open")
    if (options.subflows or 0) > options.most:
        raise UserError(
            f"--subflows {options.subflows} is more than --most {options.most} allows: raise --most"
        )


def _warn_of_absent_interfaces(options: PathManagerOptions) -> None:
    """They may come later: a modem, say."""
    there = {name for _, name in socket.if_nameindex()}
    for option, names in (("--prefer", options.prefer), ("--backup", options.backup)):
        for name in names:
            if name not in there:
                typer.echo(f"{option} {name}: there is no such interface now", err=True)


def _config(options: PathManagerOptions) -> dict[str, object]:
    paths: object = options.kind
    if options.kind == "ndiffports":
        paths = {"ndiffports": options.subflows or _SUBFLOWS_PER_PAIR}
    elif options.kind == "handover":
        paths = {"handover": options.prefer}
    return {
        "paths": paths,
        "signal": options.signal,
        "refresh": options.refresh,
        "most_subflows": options.most,
        "steps": _steps(options.after),
        "backup": options.backup,
    }


def _steps(texts: tuple[str, ...]) -> list[dict[str, int]]:
    steps = sorted(((_step(text), text) for text in texts), key=lambda one: one[0]["bytes"])
    for (step, text), (next_step, next_text) in pairwise(steps):
        if step["bytes"] == next_step["bytes"] or step["subflows"] >= next_step["subflows"]:
            raise UserError(
                f"--after {text} --after {next_text}: steps must rise: more subflows after more "
                "bytes, such as 100kB=2 and 400kB=8"
            )
    return [step for step, _ in steps]


def _step(text: str) -> dict[str, int]:
    size, equals, subflows = text.partition("=")
    if not equals or not subflows.strip().isdecimal():
        raise UserError(f"--after: '{text}': write SIZE=SUBFLOWS, such as 100kB=2")
    if len(subflows.strip()) > 3 or not 1 <= int(subflows) <= _MOST_SUBFLOWS:
        raise UserError(f"--after: '{text}': a connection has 1 to {_MOST_SUBFLOWS} subflows")
    try:
        return {"bytes": parse_size(size.strip()), "subflows": int(subflows)}
    except UnitError as error:
        raise UserError(f"--after: {error}") from error


def _tell(order: str, refused: str | None, *, as_json: bool) -> None:
    told = json.loads(order)
    if as_json:
        typer.echo(json.dumps(told | {"refused": refused}))
        return
    what = told["order"]
    local = told.get("local") or told.get("address")
    to = f" to {told['remote']}" if "remote" in told else ""
    end = "" if refused is None else f": refused: {refused}"
    typer.echo(f"{told['token']:08x} {what} {local}{to}{end}")
