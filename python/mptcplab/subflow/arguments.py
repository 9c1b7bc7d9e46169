"""Sockets, addresses and values of callers, as the extension module takes them."""

from __future__ import annotations

import errno
import struct
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Protocol

Ip = IPv4Address | IPv6Address
AddressLike = str | Ip | tuple[str | Ip, int] | tuple[str | Ip, int, int, int]
"""An address, or an address and a port, the latter also as sockets of IPv6 give it."""

Value = int | bytes | bytearray | memoryview | str
"""The value of an option."""

_INT = struct.Struct("=i")
_MOST_BYTES = 1024
"""Of a value, as with `socket.getsockopt`."""


class Socket(Protocol):
    """A socket, or what has one."""

    def fileno(self) -> int:
        """The socket's descriptor."""


def descriptor(sock: Socket) -> int:
    """The descriptor of an open socket."""
    number = sock.fileno()
    if number < 0:
        raise OSError(errno.EBADF, "the socket is closed")
    return number


def address(given: AddressLike) -> tuple[Ip, int]:
    """An address and its port, 0 where none is given.

    Raises:
        ValueError: no address, no port, or an address with a scope.

    """
    host, port = (given[0], given[1]) if isinstance(given, tuple) else (given, 0)
    ip = ip_address(host)
    if isinstance(ip, IPv6Address) and ip.scope_id is not None:
        raise ValueError(f"{ip}: give {str(ip).partition('%')[0]}, and interface={ip.scope_id!r}")
    if not 0 <= port <= 0xFFFF:
        raise ValueError(f"{port} is no port: it must be 0 to 65535")
    return ip, port


def to_option(value: Value) -> bytes:
    """The value of an option as setsockopt(2) takes it."""
    match value:
        case str():
            return value.encode()
        case int():
            return _INT.pack(value)
        case _:
            return bytes(value)


def from_option(value: bytes, buflen: int) -> int | bytes:
    """The value of an option as `socket.getsockopt` gives it.

    Raises:
        OSError: `buflen` is out of range.

    """
    if buflen == 0:
        number: int = _INT.unpack(value[: _INT.size].ljust(_INT.size, b"\0"))[0]
        return number
    if not 0 < buflen <= _MOST_BYTES:
        raise OSError("getsockopt buflen out of range")
    return value[:buflen]
