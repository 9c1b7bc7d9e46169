"""`broker`."""

from __future__ import annotations

import json
import pwd
from dataclasses import dataclass
from pathlib import Path

import typer

from mptcplab.broker.policy import for_native, load_policy, own_policy, user_number
from mptcplab.cli.errors import UserError
from mptcplab.scenario.problem import ScenarioError


@dataclass(frozen=True)
class BrokerOptions:
    """The command's options."""

    socket: Path
    mode: str
    policy: Path | None
    user: str | None
    leave_setting: bool
    quiet: bool
    debug: bool
    check: bool


def run_broker(options: BrokerOptions) -> None:
    """Serves clients until SIGTERM or SIGINT; only checks what it is told where that is wanted."""
    config = {
        "socket": _socket(options.socket),
        "mode": _mode(options.mode),
        "user": None if options.user is None else _user(options.user),
        "leave_setting": options.leave_setting,
        "quiet": options.quiet,
        "debug": options.debug,
        **_policy(options.policy),
    }
    if options.check:
        typer.echo("the policy is in order")
        return
    from mptcplab._native import BrokerError, broker

    try:
        broker(json.dumps(config))
    except BrokerError as error:
        raise UserError(str(error)) from None


def _policy(path: Path | None) -> dict[str, object]:
    try:
        return for_native(*(own_policy() if path is None else load_policy(path)))
    except ScenarioError as error:
        raise UserError(str(error)) from error


def _socket(path: Path) -> str:
    """The broker makes the socket's folder, but not those above it."""
    if path.is_dir():
        # So is what an empty value stands for.
        raise UserError(f"--socket {path}: is a folder: name the socket in it, broker.sock, say")
    path = path.absolute()
    above = path.parent.parent
    if not path.parent.is_dir() and not above.is_dir():
        raise UserError(f"--socket {path}: there is no folder {above}: make it first")
    return str(path)


def _mode(text: str) -> int:
    try:
        mode = int(text, 8)
    except ValueError:
        mode = -1
    if not 0 <= mode <= 0o777:
        raise UserError(f"--mode: {text!r} are no permissions; write 0660, say")
    return mode


def _user(name: str) -> dict[str, int]:
    try:
        uid = user_number(int(name) if name.isascii() and name.isdigit() else name)
    except ValueError as error:
        raise UserError(f"--user: {name!r}: {error}") from None
    try:
        return {"uid": uid, "gid": pwd.getpwuid(uid).pw_gid}
    except KeyError:
        # A number without a name has the group of the same number.
        return {"uid": uid, "gid": uid}
