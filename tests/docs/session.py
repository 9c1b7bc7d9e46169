"""One page of the documentation, carried out from top to bottom in a folder of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT, Block, Command, blocks, commands

EXEMPT = {
    "make demo": "sets up the checkout; continuous integration does so before its tests",
    "make test": "runs this test",
    ". .venv/bin/activate": "the commands of this environment are found already",
}
"""Commands that are not carried out, and why."""

SHELL = ("console", "sh")
"""Languages of the blocks that hold commands."""
_PROGRESS = re.compile(r": \d+ % done(, about .+ left)?$")
"""Lines of progress, which only a slow machine gets to see."""
_MARK = "\x1e"
_TIMEOUT_S = 600
"""No page takes that long; one that hangs must end."""


@dataclass(frozen=True)
class Outcome:
    """A command of the page, and what it printed."""

    line: int
    command: Command
    printed: str


class FailedError(AssertionError):
    """A step of a page did not succeed."""


def steps(page: Path) -> list[Block]:
    """The blocks of a page that are carried out: shell, Python, and files by their title."""
    return [b for b in blocks(page) if b.language in (*SHELL, "python") or b.title is not None]


def carry_out(page: Path, folder: Path) -> list[Outcome]:
    """Does what the page says, in one shell, and gives what its commands printed.

    Raises:
        FailedError: a command, or a block of Python, ended with an error.

    """
    # Whatever a page has started in the background ends with it.
    script = ["set -e", "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT"]
    done: list[tuple[int, Command]] = []
    for number, block in enumerate(steps(page)):
        if block.title is not None:
            source = folder / f".step-{number}"
            source.write_text(block.body, encoding="utf-8")
            script.append(f"cp {source.name} {shlex.quote(block.title)}")
        elif block.language == "python":
            source = folder / f".step-{number}.py"
            source.write_text(block.body, encoding="utf-8")
            script.append(f"{_say(len(done))}; {shlex.quote(sys.executable)} {source.name}")
            done.append((block.line, Command("python", ())))
        else:
            for command in commands(block):
                if command.text not in EXEMPT:
                    script += [_say(len(done)), command.text]
                    done.append((block.line, command))
    ended = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=os.environ
        | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            # As pages call the folder of the checkout.
            "CHECKOUT": str(ROOT),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_TIMEOUT_S,
        text=True,
        check=False,
    )
    printed = re.split(f"{_MARK}[0-9]+\n", ended.stdout)[1:]
    if ended.returncode != 0:
        line, command = done[len(printed) - 1]
        raise FailedError(f"{page}:{line}: {command.text}: {printed[-1]}")
    return [Outcome(*step, text) for step, text in zip(done, printed, strict=True)]


def _say(number: int) -> str:
    return f"printf '{_MARK}{number}\\n'"


def normal(line: str) -> str:
    """A line with every figure replaced: what is measured differs from run to run."""
    return " ".join(re.sub(r"[-−]?\d+(?:[.,:]\d+)*", "#", line).split())


def difference(outcome: Outcome) -> str | None:
    """The first line that the page shows otherwise than the command printed it.

    That is a line that was not printed there, or one that was printed and is not shown; `…` stands
    for any number of lines. A page that shows nothing of a command says nothing of it.
    """
    shown = outcome.command.output
    if not shown:
        return None
    printed = [
        line for line in outcome.printed.splitlines() if line.strip() and not _PROGRESS.search(line)
    ]
    place, leaps = 0, False
    for line in shown:
        if line.strip() == "…":
            leaps = True
            continue
        while leaps and place < len(printed) and normal(printed[place]) != normal(line):
            place += 1
        if place == len(printed) or normal(printed[place]) != normal(line):
            return line
        place, leaps = place + 1, False
    return None if leaps or place == len(printed) else printed[place]
