"""Facts about the own connection that need no privilege."""

from __future__ import annotations

import json

from mptcplab import _native
from mptcplab.subflow.arguments import Socket, descriptor
from mptcplab.subflow.model import Connection, SubflowTuple


def subflow_ids(sock: Socket) -> list[int]:
    """Ids of the current subflows, ascending.

    Raises:
        SubflowError: `NotMptcp`, `NotConnected` or `FellBack`.

    """
    return _native.subflow_ids(descriptor(sock))


def subflow_tuple(sock: Socket, id: int) -> SubflowTuple:
    """Addresses, address ids, state and priority of a subflow.

    Raises:
        SubflowError: as `subflow_ids`; `NoSuchSubflow`.

    """
    return SubflowTuple.of(json.loads(_native.subflow_tuple(descriptor(sock), id)))


def connection(sock: Socket) -> Connection:
    """The connection's counters, and its subflows with theirs.

    Raises:
        SubflowError: as `subflow_ids`.

    """
    return Connection.of(json.loads(_native.subflow_connection(descriptor(sock))))
