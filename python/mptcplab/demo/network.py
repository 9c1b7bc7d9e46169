"""The network: built, entered by programs, and ended with all that runs inside it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from mptcplab.engine.choice import KERNEL, refusals
from mptcplab.engine.compile import compile_plan
from mptcplab.engine.job import EngineError
from mptcplab.engine.kernel.inside import GoneError, words_to_enter
from mptcplab.engine.kernel.lab import Lab
from mptcplab.plan import Plan
from mptcplab.recording import Lab as Place
from mptcplab.scenario import Scenario, loads

_ENDING_S = 10.0
"""Time for the end of programs whose namespaces are gone."""
_LISTEN = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64) as listener:
    with socket.socket(fileno=0) as outside:
        socket.send_fds(outside, [b"0"], [listener.fileno()])
"""


class Network:
    """A network that is up."""

    def __init__(self, plan: Plan, lab: Lab) -> None:
        self._addresses = {
            node.name: [str(one.addresses[0].address) for one in node.interfaces if one.addresses]
            for node in plan.nodes
        }
        self._lab = lab
        self._place: Place | None = None
        self._is_told = Event()
        self._failure: str | None = None
        self._programs: list[subprocess.Popen[str]] = []
        self._is_ending = False
        self._reader = Thread(target=self._read, daemon=True)

    @property
    def failure(self) -> str | None:
        """Why it ended by itself; null unless it did."""
        return self._failure

    def address(self, host: str) -> str:
        """The address of a host's first interface."""
        return self._addresses[host][0]

    def addresses(self, host: str) -> Sequence[str]:
        """The first address of each of a host's interfaces that has one."""
        return self._addresses[host]

    def start(self, host: str, command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Starts a program on a host; it ends with the network at the latest.

        Raises:
            EngineError: it cannot be started.

        """
        assert self._place is not None
        try:
            words = [*words_to_enter(self._place, host), *command]
            # Ctrl-C in the terminal is for this process alone.
            program = subprocess.Popen(words, text=True, start_new_session=True, **options)
        except GoneError:
            raise EngineError(self._failure or "the network has just ended") from None
        except OSError as error:
            raise EngineError(f"{command[0]}: {error.strerror}") from None
        self._programs.append(program)
        return program

    def listening(self, host: str, port: int) -> int:
        """The descriptor of a socket that listens at the host's address.

        A socket stays in the network namespace that it was made in, whoever has it.

        Raises:
            EngineError: it cannot be made.

        """
        outside, inside = socket.socketpair()
        with outside:
            with inside:
                words = [sys.executable, "-I", "-S", "-c", _LISTEN, self.address(host), str(port)]
                program = self.start(host, words, stdin=inside, stderr=subprocess.PIPE)
            _, descriptors, _, _ = socket.recv_fds(outside, 1, 1)
        _, told = program.communicate()
        if not descriptors:
            raise EngineError(f"no socket on {host}: {told.strip()}")
        return descriptors[0]

    def wait_until_built(self) -> None:
        """Waits until programs can be started.

        Raises:
            EngineError: it cannot be built.

        """
        self._reader.start()
        self._is_told.wait()
        if self._place is None:
            raise EngineError(self._failure or "the network has just ended")

    def _read(self) -> None:
        try:
            for row in self._lab.rows():
                if row["record"] == "ready":
                    nodes = {name: thread for name, thread in row["nodes"].items() if thread}
                    self._place = Place(pid=self._lab.pid, nodes=nodes)
                    self._is_told.set()
            failure = "the network has ended by itself"
        except EngineError as error:
            failure = str(error)
        if not self._is_ending:
            self._failure = failure
            if self._place is not None:
                # Its user waits for nothing else.
                os.kill(os.getpid(), signal.SIGTERM)
        self._is_told.set()

    def end(self) -> None:
        """Ends it with all that runs inside."""
        self._is_ending = True
        self._lab.stop()
        if self._reader.is_alive():
            self._reader.join(_ENDING_S)
        if self._reader.is_alive():
            self._lab.kill()
            self._reader.join()
        self._lab.end()
        for program in self._programs:
            try:
                program.wait(_ENDING_S)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
            for stream in (program.stdout, program.stderr):
                if stream is not None:
                    stream.close()


def of_demonstration() -> Scenario:
    """The scenario whose network the demonstration runs in."""
    return loads(Path(__file__).with_name("network.yaml").read_text(), "demo")


@contextmanager
def network(scenario: Scenario, variant: str = "mptcp", seed: int = 1) -> Iterator[Network]:
    """The network of a variant; all that was started in it has ended afterwards.

    The seed is that of what the links draw, such as the packets that they lose.

    Raises:
        EngineError: the kernel engine cannot build it here.

    """
    refused = refusals(KERNEL, scenario, [variant])
    if refused:
        raise EngineError("; ".join(dict.fromkeys(one.reason for one in refused)))
    plan = compile_plan(scenario, variant, seed=seed)
    made = Network(plan, Lab(plan))
    try:
        made.wait_until_built()
        yield made
    finally:
        made.end()
