"""The orders as functions, by a manager of the process that is made when it is first needed."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import overload

from mptcplab import _native
from mptcplab.subflow.arguments import AddressLike, Socket, Value, descriptor, from_option
from mptcplab.subflow.events import Events
from mptcplab.subflow.manager import Manager

_NAMESPACE = Path("/proc/thread-self/ns/net")
_Key = tuple[int, int, str | None]

_managers: dict[_Key, Manager] = {}
_lock = threading.Lock()


def _manager() -> Manager:
    """The manager for the calling thread's network namespace and the broker that is set now."""
    namespace = _NAMESPACE.stat()
    key = namespace.st_dev, namespace.st_ino, os.environ.get("MPTCPLAB_BROKER")
    with _lock:
        if key not in _managers:
            _managers[key] = Manager.open()
        return _managers[key]


def _forget() -> None:
    """In a forked process: two who read from one descriptor take each other's words."""
    global _lock
    _lock = threading.Lock()
    _managers.clear()


os.register_at_fork(after_in_child=_forget)


def open_subflow(
    sock: Socket,
    local: AddressLike,
    remote: AddressLike | None = None,
    backup: bool = False,
    *,
    interface: str | None = None,
    timeout: float = 5.0,
) -> int:
    """As `Manager.open_subflow`."""
    return _manager().open_subflow(
        sock, local, remote, backup, interface=interface, timeout=timeout
    )


def close_subflow(sock: Socket, id: int) -> None:
    """As `Manager.close_subflow`."""
    _manager().close_subflow(sock, id)


def set_backup(sock: Socket, id: int, backup: bool) -> None:
    """As `Manager.set_backup`."""
    _manager().set_backup(sock, id, backup)


def announce(sock: Socket, local: AddressLike) -> int:
    """As `Manager.announce`."""
    return _manager().announce(sock, local)


def withdraw(sock: Socket, id: int) -> None:
    """As `Manager.withdraw`."""
    _manager().withdraw(sock, id)


@overload
def subflow_getsockopt(sock: Socket, id: int, level: int, option: int) -> int: ...
@overload
def subflow_getsockopt(
    sock: Socket,
    id: int,
    level: int,
    option: int,
    buflen: int,
) -> bytes: ...
def subflow_getsockopt(
    sock: Socket,
    id: int,
    level: int,
    option: int,
    buflen: int = 0,
) -> int | bytes:
    """As `Manager.subflow_getsockopt`; `TCP_INFO` needs neither privilege nor a broker."""
    value = _native.subflow_option(descriptor(sock), id, level, option)
    if value is not None:
        return from_option(value, buflen)
    if buflen:
        return _manager().subflow_getsockopt(sock, id, level, option, buflen)
    return _manager().subflow_getsockopt(sock, id, level, option)


def subflow_setsockopt(
    sock: Socket,
    id: int,
    level: int,
    option: int,
    value: Value,
) -> None:
    """As `Manager.subflow_setsockopt`."""
    _manager().subflow_setsockopt(sock, id, level, option, value)


def events(sock: Socket) -> Events:
    """As `Manager.events`."""
    return _manager().events(sock)
