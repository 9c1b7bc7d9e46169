"""Why something could not be done: one class for each cause, below `SubflowError`.

Each is an `OSError` with the number that fits best, and where Python has a class of its own for
that one too (`TimeoutError`, `PermissionError` …). The text says what to do.
"""

from __future__ import annotations

import errno
import json
import re
from typing import Any, ClassVar

from mptcplab.subflow.model import Address


class SubflowError(OSError):
    """Something about a subflow could not be done."""

    kind: ClassVar[str] = ""
    """Its name in JSON."""
    number: ClassVar[int] = errno.EIO

    def __init_subclass__(cls, *, number: int) -> None:
        super().__init_subclass__()
        cls.kind = re.sub(r"\B([A-Z])", r"_\1", cls.__name__).lower()
        cls.number = number

    def __init__(self, text: str, told: str = "{}") -> None:
        super().__init__(self.number, text)
        self._told = text, told
        for name, value in json.loads(told).items():
            if name != "kind":
                setattr(self, *_attribute(name, value))

    def __str__(self) -> str:
        return self._told[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return typed, self._told


class NotMptcp(SubflowError, number=errno.EPROTOTYPE):
    """The socket is of another protocol."""


class NotConnected(SubflowError, number=errno.ENOTCONN):
    """There is no connection."""


class NotEstablished(SubflowError, number=errno.ENOTCONN):
    """The peer has not confirmed the handshake yet: no subflow can join before."""


class Closing(SubflowError, number=errno.ESHUTDOWN):
    """The connection is being closed by one of its ends: no subflow joins any more."""


class FellBack(SubflowError, number=errno.EPROTONOSUPPORT):
    """The connection goes on as plain TCP."""

    reason: str
    """How far MPTCP came."""


class KernelPathManager(SubflowError, number=errno.EOPNOTSUPP):
    """The connection was opened while the kernel's own path manager was in charge."""


class NoSuchSubflow(SubflowError, number=errno.ESRCH):
    """The connection has no such subflow, or no longer."""

    id: int
    """The id that was asked for."""


class LimitReached(SubflowError, number=errno.EDQUOT):
    """The connection may not have more subflows."""

    limit: int
    """How many it may have."""


class NotLocal(SubflowError, number=errno.EADDRNOTAVAIL):
    """The address is not one of this host, or its port is taken."""

    address: Address


class NoRoute(SubflowError, number=errno.EHOSTUNREACH):
    """There is no way from that address to the peer."""

    local: Address
    remote: Address


class FamiliesDiffer(SubflowError, number=errno.EAFNOSUPPORT):
    """One address is of IPv4, the other of IPv6."""

    local: Address
    remote: Address


class NoInterface(SubflowError, number=errno.ENODEV):
    """There is no such interface."""

    name: str


class Refused(SubflowError, ConnectionRefusedError, number=errno.ECONNREFUSED):
    """The peer did not let the subflow join."""

    reason: str
    """Its words."""


class TimedOut(SubflowError, TimeoutError, number=errno.ETIMEDOUT):
    """No answer came from the peer."""

    timeout: float
    """How long was waited, seconds."""


class Interrupted(SubflowError, InterruptedError, number=errno.EINTR):
    """The waiting was ended."""


class NoSuchAddress(SubflowError, number=errno.ESRCH):
    """The connection has announced no address with this id."""

    id: int
    """The id."""


class AlreadyKnown(SubflowError, number=errno.EEXIST):
    """The peer has the address already, as that of the first subflow."""

    address: Address


class NoIdLeft(SubflowError, number=errno.ENOSPC):
    """All ids of addresses of the connection are taken."""


class NotPrivileged(SubflowError, PermissionError, number=errno.EPERM):
    """There is neither privilege nor a broker."""


class NoBroker(SubflowError, number=errno.ENXIO):
    """The broker cannot be reached."""

    path: str
    """Its socket."""
    reason: str
    """How the talk failed."""


class Forbidden(SubflowError, PermissionError, number=errno.EACCES):
    """The broker's policy forbids it."""

    reason: str
    """Which rule, or that there is none."""


class TooMany(SubflowError, number=errno.EBUSY):
    """The broker has too much to do for this program, or events came too fast."""

    reason: str
    """Of what."""


class ForeignNamespace(SubflowError, number=errno.EXDEV):
    """The socket is of another network namespace than who should act on it."""


class OptionRefused(SubflowError, number=errno.ENOPROTOOPT):
    """The kernel does not know the option, or does not set it on a subflow."""

    level: int
    option: int
    reason: str
    """The kernel's reason."""


class NeedsBpf(SubflowError, number=errno.ENOSYS):
    """Options on one subflow need BPF."""

    reason: str
    """The missing part, and the hint."""


class NoMptcp(SubflowError, number=errno.EPROTONOSUPPORT):
    """The kernel has no MPTCP."""


class Protocol(SubflowError, number=errno.EPROTO):
    """Program and broker do not understand each other."""

    reason: str
    """The mistake."""


class Kernel(SubflowError, number=errno.EIO):
    """An error without a kind of its own."""

    doing: str
    """The step that failed."""
    reason: str
    """The kernel's reason."""


def typed(text: str, told: str) -> SubflowError:
    """The exception for an error as the extension module tells it, in JSON."""
    kind = json.loads(told)["kind"]
    kinds = {each.kind: each for each in SubflowError.__subclasses__()}
    return kinds.get(kind, SubflowError)(text, told)


def _attribute(name: str, value: Any) -> tuple[str, Any]:
    match name, value:
        case "timeout_ms", int():
            return "timeout", value / 1000
        case (("local" | "remote" | "address"), str()):
            return name, Address.parse(value)
        case _:
            return name, value
