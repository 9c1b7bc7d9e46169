"""Managers, which carry out a program's commands: by a broker, or in the program itself."""

from __future__ import annotations

import os
from typing import Self, overload

from mptcplab import _native
from mptcplab.subflow.arguments import (
    AddressLike,
    Socket,
    Value,
    address,
    descriptor,
    from_option,
    to_option,
)
from mptcplab.subflow.event_stream import Events


class Manager:
    """Carries out orders about the subflows of one's own connections, from any number of threads.

    Other threads run while one waits, and Ctrl-C ends the waiting.
    """

    def __init__(self, native: _native.SubflowManager) -> None:
        """Made by `open`, `direct` and `broker`."""
        self._native = native

    @classmethod
    def open(cls) -> Self:
        """By a broker where there is one, else by this process itself.

        The broker is the one that the variable `MPTCPLAB_BROKER` names, or the host's.

        Raises:
            SubflowError: `NoBroker`, `NotPrivileged` or `NoMptcp`.

        """
        return cls(_native.SubflowManager.open())

    @classmethod
    def direct(cls) -> Self:
        """By this process itself, in the calling thread's network namespace.

        Raises:
            SubflowError: `NotPrivileged` without CAP_NET_ADMIN, or `NoMptcp`.

        """
        return cls(_native.SubflowManager.direct())

    @classmethod
    def broker(cls, path: str | os.PathLike[str]) -> Self:
        """By the broker at this socket.

        Raises:
            SubflowError: `NoBroker`.

        """
        return cls(_native.SubflowManager.broker(os.fspath(path)))

    def __repr__(self) -> str:
        path = self._native.broker_path
        return "<Manager: direct>" if path is None else f"<Manager: broker at {path}>"

    def open_subflow(
        self,
        sock: Socket,
        local: AddressLike,
        remote: AddressLike | None = None,
        backup: bool = False,
        *,
        interface: str | None = None,
        timeout: float = 5.0,
    ) -> int:
        """Opens a subflow, waits until the peer has let it join, and gives its id.

        `local` is its address, with a port or without; `remote` the peer's, where it is not that to
        which the connection was opened. A backup carries data only while no other subflow can.
        `interface` is the name of the one that it is bound to. `timeout` is in seconds.

        Raises:
            SubflowError: `NotLocal`, `NoRoute`, `FamiliesDiffer`, `NoInterface`, `Refused`,
                `TimedOut`, `NotEstablished`, `KernelPathManager`, `LimitReached`, `Forbidden` …
            ValueError: an address that is none.

        """
        there = None if remote is None else address(remote)
        here = address(local)
        return self._native.open_subflow(
            descriptor(sock), here, there, backup, interface, float(timeout)
        )

    def close_subflow(self, sock: Socket, id: int) -> None:
        """Closes a subflow. What was sent on it and not acknowledged goes out on others.

        Raises:
            SubflowError: `NoSuchSubflow`, `KernelPathManager`, `Forbidden` …

        """
        self._native.close_subflow(descriptor(sock), id)

    def set_backup(self, sock: Socket, id: int, backup: bool) -> None:
        """Makes a subflow a backup, or no longer, and tells the peer (MP_PRIO).

        Raises:
            SubflowError: as `close_subflow`.

        """
        self._native.set_backup(descriptor(sock), id, backup)

    def announce(self, sock: Socket, local: AddressLike) -> int:
        """Announces an address to the peer (ADD_ADDR), with a port or without; gives its id.

        Raises:
            SubflowError: `AlreadyKnown`, `NoIdLeft`, `KernelPathManager`, `Forbidden` …
            ValueError: an address that is none.

        """
        return self._native.announce(descriptor(sock), address(local))

    def withdraw(self, sock: Socket, id: int) -> None:
        """Withdraws an announced address (REMOVE_ADDR); its subflows close.

        Raises:
            SubflowError: `NoSuchAddress`, `KernelPathManager`, `Forbidden` …

        """
        self._native.withdraw(descriptor(sock), id)

    @overload
    def subflow_getsockopt(self, sock: Socket, id: int, level: int, option: int) -> int: ...
    @overload
    def subflow_getsockopt(
        self,
        sock: Socket,
        id: int,
        level: int,
        option: int,
        buflen: int,
    ) -> bytes: ...
    def subflow_getsockopt(
        self,
        sock: Socket,
        id: int,
        level: int,
        option: int,
        buflen: int = 0,
    ) -> int | bytes:
        """The value of an option on one subflow, as `socket.getsockopt` gives it.

        That is a number, or with `buflen` at most so many bytes.

        Raises:
            SubflowError: `NoSuchSubflow`, `OptionRefused`, `NeedsBpf`, `Forbidden` …

        """
        return from_option(self._native.getsockopt(descriptor(sock), id, level, option), buflen)

    def subflow_setsockopt(
        self,
        sock: Socket,
        id: int,
        level: int,
        option: int,
        value: Value,
    ) -> None:
        """Sets an option on one subflow only; values as `socket.setsockopt` takes them, or text.

        Raises:
            SubflowError: as `subflow_getsockopt`.

        """
        self._native.setsockopt(descriptor(sock), id, level, option, to_option(value))

    def events(self, sock: Socket) -> Events:
        """Events of the connection from now on.

        Raises:
            SubflowError: as `subflow_ids`; `NoBroker`, `TooMany`.

        """
        return Events(self._native.events(descriptor(sock)))
