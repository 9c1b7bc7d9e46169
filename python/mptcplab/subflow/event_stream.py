"""Events of the subflows of a connection."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from mptcplab import _native
from mptcplab.subflow.model import Address


class EventKind(StrEnum):
    """Kinds of events."""

    CREATED = "created"
    """The connection was opened; its handshake is not complete."""
    ESTABLISHED = "established"
    """The connection is established."""
    CLOSED = "closed"
    """The connection is closed. Nothing follows."""
    ADDRESS_ANNOUNCED = "address_announced"
    """The peer announced an address (ADD_ADDR)."""
    ADDRESS_REMOVED = "address_removed"
    """The peer withdrew an address (REMOVE_ADDR)."""
    SUBFLOW_ESTABLISHED = "subflow_established"
    """An additional subflow is established."""
    SUBFLOW_CLOSED = "subflow_closed"
    """A subflow is closed, or could not be opened."""
    PRIORITY_CHANGED = "priority_changed"
    """The peer changed a subflow's priority (MP_PRIO)."""


@dataclass(frozen=True)
class Event:
    """Something that happened to one connection. What is not known is `None`."""

    kind: EventKind
    subflow: int | None
    """Id of the subflow that it happened to; not known once the socket is closed."""
    local: Address | None
    """The subflow's address and port."""
    remote: Address | None
    """The peer's, or the announced address; where no port was announced, that of the connection."""
    local_id: int | None
    """Id of the local address."""
    remote_id: int | None
    """Id of the remote, announced or withdrawn address."""
    backup: bool | None
    """The peer wants the subflow to be used as a backup."""
    reason: str | None
    """Why the subflow closed, where it was not in order."""

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """From JSON."""
        ends = {
            name: None if told[name] is None else Address.parse(told[name])
            for name in ("local", "remote")
        }
        return cls(**(told | ends | {"kind": EventKind(told["kind"])}))


class Events:
    """The events of one connection, one after the other: an iterator, and a context that closes it.

    It ends with the connection. Those who cannot wait watch `fileno()` (asyncio's `add_reader`, a
    selector) and then take events with `next(0)` until there is none.
    """

    def __init__(self, native: _native.SubflowWatch) -> None:
        """Made by `Manager.events`."""
        self._native = native
        self._ended = False

    @property
    def ended(self) -> bool:
        """The connection is closed, or the watch is: nothing follows."""
        return self._ended

    def next(self, timeout: float | None = None) -> Event | None:
        """The next event; waits as long as it takes, or so many seconds.

        `None` when none came in that time, and after the last.

        Raises:
            SubflowError: `TooMany` where events were lost (watching goes on), `NoBroker`.

        """
        told, ended = self._native.next(None if timeout is None else float(timeout))
        self._ended = self._ended or ended
        return None if told is None else Event.of(json.loads(told))

    def fileno(self) -> int:
        """A descriptor that is ready to be read when there may be an event.

        Raises:
            ValueError: the watch is closed.

        """
        return self._native.fileno()

    def close(self) -> None:
        """Ends the watching, also while another thread waits for an event."""
        self._ended = True
        self._native.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = self.next()
        if event is None:
            raise StopIteration
        return event

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        self.close()
