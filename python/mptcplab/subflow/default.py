"""The orders as functions, by a manager of the process that is made when it is first needed."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, overload

from mptcplab import _native
from mptcplab.subflow.arguments import Socket, descriptor, from_option
from mptcplab.subflow.manager import Manager

P = ParamSpec("P")
T = TypeVar("T")

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


def _by_default(order: Callable[Concatenate[Manager, P], T]) -> Callable[P, T]:
    """An order of a manager, given to that of the process."""

    def given(*args: P.args, **kwargs: P.kwargs) -> T:
        return order(_manager(), *args, **kwargs)

    given.__name__ = given.__qualname__ = order.__name__
    given.__doc__ = order.__doc__
    _itself, *parameters = inspect.signature(order).parameters.values()
    given.__signature__ = inspect.signature(order).replace(parameters=parameters)  # type: ignore[attr-defined]
    return given


open_subflow = _by_default(Manager.open_subflow)
close_subflow = _by_default(Manager.close_subflow)
set_backup = _by_default(Manager.set_backup)
announce = _by_default(Manager.announce)
withdraw = _by_default(Manager.withdraw)
subflow_setsockopt = _by_default(Manager.subflow_setsockopt)
events = _by_default(Manager.events)


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
