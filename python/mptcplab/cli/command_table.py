"""The commands and their options as a table: for shells, manuals and the documentation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from mptcplab.cli.host_program import COMMANDS


@dataclass(frozen=True)
class Argument:
    """An option, or a positional argument."""

    name: str
    """Without dashes."""
    is_option: bool
    values: tuple[str, ...]
    """A name for its value, or the values that there are; none for a flag."""
    meaning: str
    default: str | None
    required: bool
    many: bool
    """Whether it may be given several times."""


@dataclass(frozen=True)
class Command:
    """A command, or the program with the options that come before its command."""

    name: str
    about: str
    arguments: tuple[Argument, ...]
    """None where `mptcplab-host` carries it out, which tells them itself."""
    commands: tuple[Command, ...] = ()
    """Its own, where it has some."""

    @property
    def is_of_host(self) -> bool:
        """Whether `mptcplab-host` carries it out."""
        return self.name in COMMANDS


def table(app: typer.Typer) -> tuple[Command, list[Command]]:
    """The program, and its commands in the order of its help."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    shown = [command for command in group.commands.values() if not command.hidden]
    return _command(group), [_with_commands(command) for command in shown]


def _with_commands(command: Any) -> Command:
    found = _command(command)
    if not isinstance(command, TyperGroup):
        return found
    return replace(found, commands=tuple(map(_with_commands, command.commands.values())))


def _command(command: Any) -> Command:
    assert isinstance(command, TyperCommand | TyperGroup)
    arguments = tuple(
        _option(one) if isinstance(one, TyperOption) else _positional(one)
        for one in command.params
        if isinstance(one, TyperOption | TyperArgument)
    )
    return Command(str(command.name), str(command.help), arguments)


def _positional(argument: TyperArgument) -> Argument:
    name = (argument.metavar or str(argument.name).upper()).strip("[]")
    plain = name.removesuffix("...").strip("[]")
    return Argument(
        name=plain,
        is_option=False,
        values=(plain,),
        meaning=argument.help or "",
        default=_text(argument.default),
        required=argument.required,
        many=name.endswith("..."),
    )


def _option(option: TyperOption) -> Argument:
    value = option.metavar or _kind(option)
    return Argument(
        name=option.opts[-1].removeprefix("--"),
        is_option=True,
        values=() if option.is_flag else tuple(value.split("|")),
        meaning=option.help or "",
        default=None if option.is_flag else _text(option.default),
        required=option.required,
        many=option.multiple,
    )


def _kind(option: TyperOption) -> str:
    """The name for a value that has none of its own."""
    if option.min is not None and option.max is not None:
        return f"{option.min}…{option.max}"
    return "NUMBER" if option.min is not None else "FILE"


def _text(default: Any) -> str | None:
    shown = default.value if isinstance(default, Enum) else default
    return None if shown is None else str(shown)
