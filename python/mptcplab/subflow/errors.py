"""Why something could not be done: one class for each cause, below `SubflowError`.

Each is an `OSError` with the number that fits best, and where Python has a class of its own for
that one too (`TimeoutError`, `PermissionError` …). The text says what to do.
"""

from __future__ import annotations

import errno
import json
from typing import Any, ClassVar

from mptcplab.subflow.model import Address


class SubflowError(OSError):
    """Something about a subflow could not be done."""

    kind: ClassVar[str] = ""
    number: ClassVar[int] = errno.EIO

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


class NotMptcp(SubflowError):
    """The socket is of another protocol."""

    kind = "not_mptcp"
    number = errno.EPROTOTYPE


class NotConnected(SubflowError):
    """There is no connection."""

    kind = "not_connected"
    number = errno.ENOTCONN


class NotEstablished(SubflowError):
    """The peer has not confirmed the handshake yet: no subflow can join before."""

    kind = "not_established"
    number = errno.ENOTCONN


class Closing(SubflowError):
    """The connection is being closed by one of its ends: no subflow joins any more."""

    kind = "closing"
    number = errno.ESHUTDOWN


class FellBack(SubflowError):
    """The connection goes on as plain TCP."""

    kind = "fell_back"
    number = errno.EPROTONOSUPPORT
    reason: str
    """How far MPTCP came."""


class KernelPathManager(SubflowError):
    """The connection was opened while the kernel's own path manager was in charge."""

    kind = "kernel_path_manager"
    number = errno.EOPNOTSUPP


class NoSuchSubflow(SubflowError):
    """The connection has no such subflow, or no longer."""

    kind = "no_such_subflow"
    number = errno.ESRCH
    id: int
    """The id that was asked for."""


class LimitReached(SubflowError):
    """The connection may not have more subflows."""

    kind = "limit_reached"
    number = errno.EDQUOT
    limit: int
    """How many it may have."""


class NotLocal(SubflowError):
    """The address is not one of this host, or its port is taken."""

    kind = "not_local"
    number = errno.EADDRNOTAVAIL
    address: Address


class NoRoute(SubflowError):
    """There is no way from that address to the peer."""

    kind = "no_route"
    number = errno.EHOSTUNREACH
    local: Address
    remote: Address


class FamiliesDiffer(SubflowError):
    """One address is of IPv4, the other of IPv6."""

    kind = "families_differ"
    number = errno.EAFNOSUPPORT
    local: Address
    remote: Address


class NoInterface(SubflowError):
    """There is no such interface."""

    kind = "no_interface"
    number = errno.ENODEV
    name: str


class Refused(SubflowError, ConnectionRefusedError):
    """The peer did not let the subflow join."""

    kind = "refused"
    number = errno.ECONNREFUSED
    reason: str
    """What it said."""


class TimedOut(SubflowError, TimeoutError):
    """No answer came from the peer."""

    kind = "timed_out"
    number = errno.ETIMEDOUT
    timeout: float
    """How long was waited, seconds."""


class Interrupted(SubflowError, InterruptedError):
    """The waiting was ended."""

    kind = "interrupted"
    number = errno.EINTR


class NoSuchAddress(SubflowError):
    """The connection has announced no address with this id."""

    kind = "no_such_address"
    number = errno.ESRCH
    id: int
    """The id."""


class AlreadyKnown(SubflowError):
    """The peer has the address already, as that of the first subflow."""

    kind = "already_known"
    number = errno.EEXIST
    address: Address


class NoIdLeft(SubflowError):
    """All ids of addresses of the connection are taken."""

    kind = "no_id_left"
    number = errno.ENOSPC


class NotPrivileged(SubflowError, PermissionError):
    """There is neither privilege nor a broker."""

    kind = "not_privileged"
    number = errno.EPERM


class NoBroker(SubflowError):
    """The broker cannot be reached."""

    kind = "no_broker"
    number = errno.ENXIO
    path: str
    """Its socket."""
    reason: str
    """How the talk failed."""


class Forbidden(SubflowError, PermissionError):
    """The broker's policy forbids it."""

    kind = "forbidden"
    number = errno.EACCES
    reason: str
    """Which rule, or that there is none."""


class TooMany(SubflowError):
    """The broker has too much to do for this program, or events came too fast."""

    kind = "too_many"
    number = errno.EBUSY
    reason: str
    """Of what."""


class ForeignNamespace(SubflowError):
    """The socket is of another network namespace than who should act on it."""

    kind = "foreign_namespace"
    number = errno.EXDEV


class OptionRefused(SubflowError):
    """The kernel does not know the option, or does not set it on a subflow."""

    kind = "option_refused"
    number = errno.ENOPROTOOPT
    level: int
    option: int
    reason: str
    """What the kernel says."""


class NeedsBpf(SubflowError):
    """Options on one subflow need BPF."""

    kind = "needs_bpf"
    number = errno.ENOSYS
    reason: str
    """What is missing, and its mend."""


class NoMptcp(SubflowError):
    """The kernel has no MPTCP."""

    kind = "no_mptcp"
    number = errno.EPROTONOSUPPORT


class Protocol(SubflowError):
    """Program and broker do not understand each other."""

    kind = "protocol"
    number = errno.EPROTO
    reason: str
    """What was wrong."""


class Kernel(SubflowError):
    """What has no kind of its own."""

    kind = "kernel"
    number = errno.EIO
    doing: str
    """What was tried."""
    reason: str
    """What the kernel said."""


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
