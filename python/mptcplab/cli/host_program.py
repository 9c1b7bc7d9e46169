"""Commands that `mptcplab-host`, a program in Rust, carries out in the place of this one.

This module imports nothing that takes time: the program starts as soon as the interpreter has.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

PROGRAM = "mptcplab-host"
VERSION = "0.1.0"
"""Version of this package and of the program; what is installed takes long to ask."""
COMMANDS = {
    "nc": "Netcat over MPTCP: standard input and output at the ends of a connection.",
    "path-manager": "Open and close the subflows of this host's connections, until Ctrl-C.",
    "broker": "Open, close and steer subflows for programs without privilege, each for its own.",
    "target": "Serve `mptcplab probe`: holders of a token measure against this host, until Ctrl-C.",
    "agent": "Measure the paths of this host by a server's plans, and send it the results.",
    "cc": "Load congestion controls into the kernel: lia, olia, balia, wvegas, or your own.",
    "subflows": "List the MPTCP connections of this host and their subflows.",
    "bandwidth": "Log what each interface sends and receives, until Ctrl-C.",
}
"""Each with its line in `mptcplab --help`; `mptcplab-host COMMAND --help` has its options."""
NOT_INSTALLED = (
    f"{PROGRAM} is not installed: `make setup` builds it, or "
    "`cargo install --path crates/host/program` in the sources"
)


def hand_over(arguments: list[str]) -> None:
    """Becomes the program where the first argument is one of its commands and it is installed."""
    if arguments and arguments[0] in COMMANDS:
        path = find_program()
        if path is not None:
            # A file that cannot be started is told as one that is not there.
            with suppress(OSError):
                os.execve(path, [PROGRAM, *arguments], environment())


def environment() -> dict[str, str]:
    """The program's environment, with our version: it refuses to work where its own is another."""
    return os.environ | {"MPTCPLAB_CALLER_VERSION": VERSION}


def find_program() -> str | None:
    """Path of the program: beside this interpreter, where pip puts scripts, or on the PATH."""
    folder = os.path.dirname(sys.executable)  # noqa: PTH120
    beside = os.path.join(folder, PROGRAM)  # noqa: PTH118
    if folder and os.path.isfile(beside) and os.access(beside, os.X_OK):  # noqa: PTH113
        return beside
    import shutil
    import sysconfig

    scripts = sysconfig.get_path("scripts")
    found = shutil.which(PROGRAM, path=scripts) or shutil.which(PROGRAM)
    # A program that the PATH finds in the working folder may be anybody's.
    return found if found is not None and os.path.isabs(found) else None  # noqa: PTH117
