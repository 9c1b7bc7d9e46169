"""Last counters of each subflow and of each MPTCP connection, at each node."""

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import larger
from mptcplab.recording import Recording


@dataclass
class SubflowTotals:
    """Counters of a subflow at one of its ends; null where they are not known."""

    node: str
    subflow: str
    interface: str | None = None
    """By the plan's addresses, else as sampled last."""
    token: int | None = None
    """As known last: the final row of a connection that fell back has none."""
    bytes_sent: int | None = None
    bytes_acked: int | None = None
    bytes_received: int | None = None
    bytes_retrans: int | None = None


@dataclass
class ConnectionTotals:
    """Counters of an MPTCP connection at one of its ends; null where they are not known."""

    bytes_sent: int | None = None
    bytes_received: int | None = None
    bytes_retrans: int | None = None


def subflow_totals(recording: Recording, plan: PlanView) -> Sequence[SubflowTotals]:
    """Those of a recording, by node and subflow, in the order of their first samples."""
    found: dict[tuple[str, str], SubflowTotals] = {}
    for row in sorted(recording.rows("subflow_samples", _OF_SUBFLOW), key=lambda row: row["t_ns"]):
        key = row["node"], row["subflow"]
        own = found.get(key)
        if own is None:
            own = found[key] = SubflowTotals(*key)
        own.interface = row["interface"] or own.interface
        own.token = own.token if row["token"] is None else row["token"]
        own.bytes_sent = larger(own.bytes_sent, row["bytes_sent"])
        own.bytes_acked = larger(own.bytes_acked, row["bytes_acked"])
        own.bytes_received = larger(own.bytes_received, row["bytes_received"])
        own.bytes_retrans = larger(own.bytes_retrans, row["bytes_retrans"])
    for own in found.values():
        local = own.subflow.partition("-")[0].rpartition(":")[0].strip("[]")
        _, planned = plan.interface_of_address.get(local, (None, None))
        own.interface = planned or own.interface
    return list(found.values())


def connection_totals(recording: Recording) -> dict[tuple[str, int], ConnectionTotals]:
    """Those of a recording, by node and token."""
    found: dict[tuple[str, int], ConnectionTotals] = {}
    for row in recording.rows("connection_samples", _OF_CONNECTION):
        own = found.setdefault((row["node"], row["token"]), ConnectionTotals())
        own.bytes_sent = larger(own.bytes_sent, row["bytes_sent"])
        own.bytes_received = larger(own.bytes_received, row["bytes_received"])
        own.bytes_retrans = larger(own.bytes_retrans, row["bytes_retrans"])
    return found


_OF_SUBFLOW = (
    "t_ns",
    "node",
    "subflow",
    "interface",
    "token",
    "bytes_sent",
    "bytes_acked",
    "bytes_received",
    "bytes_retrans",
)
_OF_CONNECTION = ("node", "token", "bytes_sent", "bytes_received", "bytes_retrans")
