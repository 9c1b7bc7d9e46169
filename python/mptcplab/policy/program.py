"""A policy as a program of its own, for a controller in a process that has no interpreter to spare.

Requests come as lines of JSON by a socket, which is the program's standard input, and answers go
back by it. The first line has the name and the text of the policy's file.
"""

from __future__ import annotations

import json
import os

from mptcplab.policy.function import load_policy
from mptcplab.policy.source import PolicyError


def main() -> None:
    """Answers requests until the other end closes the socket or the policy does something wrong."""
    socket = _own_input()
    with os.fdopen(socket, "rb") as lines:
        try:
            function = load_policy(**json.loads(lines.readline()))
            _say(socket, {"answer": 0})
            for line in lines:
                _say(socket, {"answer": function(*json.loads(line))})
        except PolicyError as error:
            _say(socket, {"error": str(error)})


def _own_input() -> int:
    """A copy of standard input, which is empty from now on: the policy may read it."""
    socket = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return socket


def _say(socket: int, said: dict[str, int | str]) -> None:
    line = json.dumps(said).encode() + b"\n"
    while line:
        line = line[os.write(socket, line) :]
