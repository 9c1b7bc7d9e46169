"""The commands' part of `docs/reference.md`, made from the commands themselves.

python -m tests.docs.reference        writes it anew
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mptcplab.cli.app import app
from mptcplab.cli.command_table import Argument, Command, table
from mptcplab.cli.host_program import COMMANDS, find_program

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
BEGIN, END = "<!-- commands: made by `make docs` -->\n", "<!-- end of commands -->\n"


def commands_text() -> str:
    """The section of each command: those of this program, then those of `mptcplab-host`."""
    _, commands = table(app)
    own = [
        section
        for command in commands
        if not command.is_of_host
        for section in _sections("", command)
    ]
    return "\n".join([*own, *_host_sections()])


def with_commands(page: str) -> str:
    """The page with its generated part made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{commands_text()}\n{END}{after}"


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


def _sections(before: str, command: Command) -> Iterator[str]:
    """That of a command, and those of its own commands."""
    name = f"{before}{command.name}"
    if command.arguments or not command.commands:
        yield _section(replace(command, name=name))
    for inner in command.commands:
        yield from _sections(f"{name} ", inner)


def _section(command: Command) -> str:
    positional = [one for one in command.arguments if not one.is_option]
    options = [one for one in command.arguments if one.is_option]
    middle = ["[OPTIONS]"] if options else []
    usage = " ".join(["mptcplab", command.name, *middle, *map(_in_usage, positional)])
    lines = [f"### `{command.name}`", "", f"    {usage}", "", command.about, ""]
    rows = [_row(f"`{_name(one)}`", one.meaning, one.default) for one in positional if one.meaning]
    rows += [_row(f"`{_name(one)}`", one.meaning, one.default) for one in options]
    if rows:
        lines += ["| | meaning | default |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _in_usage(argument: Argument) -> str:
    return _name(argument) if argument.required else f"[{_name(argument)}]"


def _name(argument: Argument) -> str:
    if argument.is_option:
        return f"--{argument.name} {'|'.join(argument.values)}".strip()
    return f"{argument.name}..." if argument.many else argument.name


def _row(name: str, meaning: str, default: str | None) -> str:
    shown = "" if default is None else f"`{default}`"
    return f"| {name.replace('|', chr(92) + '|')} | {meaning} | {shown} |"


if __name__ == "__main__":
    PAGE.write_text(with_commands(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
