"""Commands to a run that goes on: pause, resume, single packets, the packets in its links.

The process that owns the run listens on a socket in the recording's folder, which only its user may
connect to. A command is a line of words, its answer a line of JSON.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mptcplab.engine.job import EngineError
from mptcplab.engine.watch import Row

SOCKET = "control"
"""Name of the socket, in the folder of a recording that is being made."""
UNASKED = 0
"""Number of the answer to a pause that was set before."""
_COMMAND = re.compile(r"pause|resume|packets|step [1-9][0-9]{0,5}")
_LONGEST_COMMAND = 64
_READING_S = 2.0
_ANSWERING_S = 30.0
_LONGEST_ANSWER = 256 << 20
"""A million packets in links."""


class CommandSocket:
    """Passes commands on to a lab, one after the other, and its answers back."""

    def __init__(self, folder: Path, give: Callable[[str], None]) -> None:
        """Of the recording in `folder`; `give` gives the lab a line."""
        self._folder = folder
        self._give = give
        self._numbers = count(UNASKED + 1)
        self._answers: SimpleQueue[Row] = SimpleQueue()
        self._socket: socket.socket | None = None
        self._thread: Thread | None = None

    def listen(self) -> None:
        """Takes commands from now on; never, where the file system has no sockets."""
        own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with _address(self._folder) as address:
                own.bind(address)
                # Before it listens nobody can connect.
                Path(address).chmod(0o600)
                own.listen()
        except OSError:
            own.close()
            return
        self._socket = own
        self._thread = Thread(target=self._serve, args=(own,), name="commands", daemon=True)
        self._thread.start()

    def answered(self, row: Row) -> None:
        """Takes an answer of the lab."""
        self._answers.put(row)

    def _serve(self, own: socket.socket) -> None:
        while True:
            try:
                asking, _ = own.accept()
            except OSError:
                # It was shut down.
                return
            # One who goes away, or is silent, gets no answer.
            with asking, suppress(OSError):
                asking.settimeout(_READING_S)
                words = _line(asking, _LONGEST_COMMAND).decode("ascii", "replace").strip()
                answer = json.dumps(self._answer(words)).encode() + b"\n"
                asking.settimeout(_ANSWERING_S)
                asking.sendall(answer)

    def _answer(self, words: str) -> Row:
        if _COMMAND.fullmatch(words) is None:
            return {"error": "no command: pause, resume, packets, or step NUMBER"}
        number = next(self._numbers)
        self._give(f"{number} {words}")
        while True:
            try:
                answer = self._answers.get(timeout=_ANSWERING_S)
            except Empty:
                return {"error": "the run does not answer"}
            if answer["number"] in (number, _ENDED["number"]):
                return answer

    def close(self) -> None:
        """Takes no more commands, and removes the socket."""
        if self._socket is None or self._thread is None:
            return
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._answers.put(_ENDED)
        self._thread.join(_READING_S)
        self._socket.close()
        (self._folder / SOCKET).unlink(missing_ok=True)


_ENDED: Row = {"number": -1, "error": "the run has ended"}


class _Told(BaseModel):
    """A part of an answer, which need not be of a run of ours."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class SteppedPacket(_Told):
    """A packet that was let pass."""

    t_ns: int
    link: str
    source: str = Field(alias="from")
    to: str
    packet: str
    """In a line."""


class HeldPacket(_Told):
    """A packet in a link."""

    place: Literal["propagating", "sending", "queued"]
    t_ns: int
    """When it arrives, when it has been sent, or since when it waits."""
    ip_bytes: int
    packet: str


class LinkQueue(_Told):
    """The packets in a direction of a link."""

    link: str
    source: str = Field(alias="from")
    to: str
    delivered_packets: int
    """Since the run's zero."""
    packets: tuple[HeldPacket, ...]


class Answer(_Told):
    """The answer of a run to a command."""

    t_ns: int
    """Where its clock stands."""
    paused_ns: int | None
    """Of one that was paused and goes on, for how long."""
    stepped: tuple[SteppedPacket, ...]
    links: tuple[LinkQueue, ...]


def send_command(folder: Path, words: str) -> Answer:
    """Sends the run whose recording is made in `folder` a command, and returns its answer.

    Raises:
        EngineError: nothing runs there, or the command cannot be carried out.

    """
    try:
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking,
            _address(folder) as address,
        ):
            asking.settimeout(2 * _ANSWERING_S)
            asking.connect(address)
            asking.sendall(words.encode() + b"\n")
            line = _line(asking, _LONGEST_ANSWER)
    except PermissionError as error:
        raise EngineError("only the user who started the run can pause it") from error
    except OSError as error:
        raise EngineError(f"the run takes no commands ({error.strerror or error})") from error
    try:
        answer = json.loads(line or b"{}")
        if answer.get("error") is not None:
            raise EngineError(str(answer["error"]))
        return Answer.model_validate(answer)
    except (AttributeError, ValueError, RecursionError) as error:
        raise EngineError("the run has just ended, or what answers is no run") from error


def _line(stream: socket.socket, longest: int) -> bytes:
    """Reads to the end of a line or of what comes, so many bytes at most."""
    line = bytearray()
    while not line.endswith(b"\n") and len(line) < longest:
        part = stream.recv(min(1 << 16, longest - len(line)))
        if not part:
            break
        line += part
    return bytes(line)


@contextmanager
def _address(folder: Path) -> Iterator[str]:
    """The socket's address, however long the folder's is: the kernel takes 108 bytes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)
