"""The subflows of a program's own MPTCP connections.

    from mptcplab import subflow

    second = subflow.open_subflow(sock, "10.0.2.6")
    for id in subflow.subflow_ids(sock):
        print(subflow.subflow_tuple(sock, id))
    subflow.close_subflow(sock, second)

`sock` is a connected MPTCP socket: a `socket.socket`, or anything with `fileno()`. What there is to
know of one's own connection the kernel tells anybody. Orders are carried out by the broker, or by
this process where it has CAP_NET_ADMIN; a `Manager` says which. All functions may be called from
any thread. Whatever fails raises a `SubflowError`, each cause one of its own.
"""

from mptcplab.subflow import errors
from mptcplab.subflow.default import (
    announce,
    close_subflow,
    events,
    open_subflow,
    set_backup,
    subflow_getsockopt,
    subflow_setsockopt,
    withdraw,
)
from mptcplab.subflow.errors import SubflowError
from mptcplab.subflow.event_stream import Event, EventKind, Events
from mptcplab.subflow.manager import Manager
from mptcplab.subflow.model import (
    Address,
    Connection,
    MptcpInfo,
    Subflow,
    SubflowTuple,
    TcpInfo,
)
from mptcplab.subflow.own import connection, subflow_ids, subflow_tuple

__all__ = [
    "Address",
    "Connection",
    "Event",
    "EventKind",
    "Events",
    "Manager",
    "MptcpInfo",
    "Subflow",
    "SubflowError",
    "SubflowTuple",
    "TcpInfo",
    "announce",
    "close_subflow",
    "connection",
    "errors",
    "events",
    "open_subflow",
    "set_backup",
    "subflow_getsockopt",
    "subflow_ids",
    "subflow_setsockopt",
    "subflow_tuple",
    "withdraw",
]
