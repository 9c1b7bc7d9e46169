"""The commands' part of `docs/reference.md`, made from the commands themselves.

python -m tests.docs.reference        writes it anew
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from mptcplab.cli.app import app
from mptcplab.cli.host_program import COMMANDS, find_program

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
BEGIN, END = "<!-- commands: made by `make docs` -->\n", "<!-- end of commands -->\n"


def commands_text() -> str:
    """The section of each command, in the order of `mptcplab --help`."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return "\n".join([*_sections(group), *_host_sections()])


def with_commands(page: str) -> str:
    """The page with its generated part made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{commands_text()}\n{END}{after}"


def _sections(group: TyperGroup, prefix: str = "") -> Iterator[str]:
    for command in group.commands.values():
        if isinstance(command, TyperGroup):
            yield from _sections(command, f"{prefix}{command.name} ")
        elif command.name not in COMMANDS:
            yield _section(command, prefix)


def _host_sections() -> Iterator[str]:
    """The commands that `mptcplab-host` carries out, as it describes them itself."""
    program = find_program()
    assert program is not None, "mptcplab-host is not installed: make setup"
    told = subprocess.run([program, "reference"], stdout=subprocess.PIPE, check=True).stdout
    for command in json.loads(told):
        if command["name"].split()[0] in COMMANDS:
            name, usage, about = command["name"], command["usage"], command["about"]
            lines = [f"### `{name}`", "", f"    mptcplab {usage}", "", f"{about}.", ""]
            rows = [
                _row(f"`{row['name']}`", f"{row['meaning']}.", row["default"])
                for row in command["options"]
            ]
            yield "\n".join([*lines, "| | meaning | default |", "|---|---|---|", *rows, ""])


def _section(command: object, prefix: str) -> str:
    assert isinstance(command, TyperCommand)
    arguments = [p for p in command.params if isinstance(p, TyperArgument)]
    options = [p for p in command.params if isinstance(p, TyperOption)]
    middle = ["[OPTIONS]"] if options else []
    name = f"{prefix}{command.name}"
    usage = " ".join(["mptcplab", name, *middle, *map(_in_usage, arguments)])
    lines = [f"### `{name}`", "", f"    {usage}", "", str(command.help), ""]
    rows = [_argument(a) for a in arguments if a.help] + [_option(o) for o in options]
    if rows:
        lines += ["| | meaning | default |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _in_usage(argument: TyperArgument) -> str:
    name = (argument.metavar or str(argument.name).upper()).strip("[]").replace("]...", "...")
    return name if argument.required else f"[{name}]"


def _argument(argument: TyperArgument) -> str:
    name = _in_usage(argument).strip("[]")
    return _row(f"`{name}`", argument.help, argument.default)


def _option(option: TyperOption) -> str:
    value = "" if option.is_flag else f" {option.metavar or _kind(option)}"
    return _row(f"`{option.opts[-1]}{value}`", option.help, option.default)


def _kind(option: TyperOption) -> str:
    """What stands for a value that has no name of its own."""
    if isinstance(option.default, Enum):
        return "|".join(str(member.value) for member in type(option.default))
    if option.min is not None and option.max is not None:
        return f"{option.min}…{option.max}"
    return "NUMBER" if option.min is not None else "FILE"


def _row(name: str, meaning: str | None, default: object) -> str:
    shown = default.value if isinstance(default, Enum) else default
    unset = shown is None or isinstance(shown, bool)
    return f"| {name.replace('|', chr(92) + '|')} | {meaning} | {'' if unset else f'`{shown}`'} |"


if __name__ == "__main__":
    PAGE.write_text(with_commands(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
