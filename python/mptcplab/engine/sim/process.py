"""The processes that simulate, as the process that asks them sees them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mptcplab.engine.terminal import ctrl_c_held

_MODULE = "mptcplab.engine.sim.worker"
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass
class Worker:
    """A process that simulates, and the number of the job that it is at."""

    process: subprocess.Popen[bytes]
    number: int | None = None
    is_told_to_stop: bool = False
    is_gone: bool = False
    """It has closed its output, all of which was read."""
    rest: bytes = b""
    """Of its answers, the line that is not complete."""

    @classmethod
    def start(cls) -> Worker:
        """Gives the one that was started ahead, or starts one.

        Ctrl-C in the terminal does not reach it.
        """
        return _ahead.pop() if _ahead else cls._started()

    @classmethod
    def start_ahead(cls) -> None:
        """Starts one that loads its libraries while this process does; it ends with this one."""
        _ahead.append(cls._started())

    @classmethod
    def of_module(cls, module: str, *, inherits: int) -> Worker:
        """Starts a module that works as the simulator's does; it has the descriptor, too."""
        return cls._started(module, [inherits], {"POLARS_MAX_THREADS": "1"})

    @classmethod
    def _started(
        cls,
        module: str = _MODULE,
        inherited: Sequence[int] = (),
        environment: Mapping[str, str] = NOTHING,
    ) -> Worker:
        path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with ctrl_c_held():
            process = subprocess.Popen(
                [sys.executable, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **path, **environment},
                start_new_session=True,
                pass_fds=inherited,
            )
        return cls(process)

    def send(self, request: Any) -> None:
        """Writes a request; one that has died is noticed by its silence."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return

    def answers(self) -> list[Any]:
        """The values that its lines hold, as of `lines`."""
        return [json.loads(line) for line in self.lines()]

    def lines(self) -> list[bytes]:
        """Its lines since the last time; waits for one, or for its end.

        Read without a buffer of Python's, in which a selector would not see the next line.
        """
        assert self.process.stdout is not None
        read = os.read(self.process.stdout.fileno(), 1 << 16)
        self.is_gone = not read
        *lines, self.rest = (self.rest + read).split(b"\n")
        return lines

    def end(self) -> None:
        """Ends the process, whatever it does."""
        self.process.kill()
        self.process.communicate()


_ahead: list[Worker] = []
