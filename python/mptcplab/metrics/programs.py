"""Traffic of programs, from the kernel's accounts of their sockets (table ``sockets``).

Counters of the kernel are not quite payload: a SYN counts as one byte where it is acknowledged, a
FIN where it is acknowledged and where it is received. What a socket sent does not contain them, so
that both ends together tell the payload to the byte.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import Row, known
from mptcplab.metrics.totals import ConnectionTotals, connection_totals
from mptcplab.recording import Recording
from mptcplab.recording.tables import SOCKETS, TRANSFERS

KIND = "command"
"""Kind of the transfers of programs."""
_UNKNOWN = ConnectionTotals()


@dataclass(frozen=True)
class End:
    """A socket at the host of a command, and the one at its other end where that is known."""

    own: Row
    peer: Row | None

    @property
    def received(self) -> int:
        """Payload that this end received."""
        return _received(self.own, self.peer)

    @property
    def delivered(self) -> int:
        """Payload of this end that the other end received."""
        if self.peer is None:
            return _acknowledged(self.own)
        return _received(self.peer, self.own)


@dataclass(frozen=True)
class Connection:
    """A connection of a program: one socket of TCP, or the subflows of MPTCP."""

    ends: Sequence[End]
    down_bytes: int
    """Payload that came to the command's host."""
    up_bytes: int

    @cached_property
    def start_ns(self) -> int:
        """Before its first SYN; where no program opened it, when it was first heard of."""
        rows = [row for end in self.ends for row in (end.own, end.peer) if row is not None]
        starts = [row["start_ns"] for row in rows if row["start_ns"] is not None]
        return int(min(starts or [row["first_ns"] for row in rows]))

    def end_ns(self, way: str) -> int | None:
        """When its last payload came, by the receiver's account where it is known."""
        ends = [
            (end.own, end.peer) if way == "down" else (end.peer, end.own)
            for end in self.ends
            if (end.received if way == "down" else end.delivered)
        ]
        times = [_last_byte_ns(receiver, sender) for receiver, sender in ends]
        known = [time for time in times if time is not None]
        return max([*known, self.start_ns]) if known else None


def connections(recording: Recording, plan: PlanView) -> dict[str, list[Connection]]:
    """The connections of each command that carried something, by flow.

    A connection between two commands belongs to the one that opened it.
    """
    clients = plan.commands
    if not clients:
        return {}
    by_key: dict[tuple[object, ...], list[End]] = {}
    for end in _ends(recording):
        own = end.own
        if clients.get(own["traffic"]) == own["node"]:
            single = own["token"] if own["token"] is not None else id(own)
            by_key.setdefault((own["traffic"], own["token"] is None, single), []).append(end)
    totals = connection_totals(recording)
    found: dict[str, list[Connection]] = {traffic: [] for traffic in clients}
    for (traffic, *_), ends in by_key.items():
        if not _is_of_the_other(ends, clients):
            connection = _connection(ends, totals)
            if connection.down_bytes or connection.up_bytes:
                found[str(traffic)].append(connection)
    return found


def program_transfers(recording: Recording, plan: PlanView) -> list[Row]:
    """The connections of commands as rows of ``transfers``, one each way that payload went."""
    return [
        _transfer(traffic, number, connection, way, plan)
        for traffic, own in connections(recording, plan).items()
        for number, connection in enumerate(own)
        for way in ("down", "up")
        if (connection.down_bytes if way == "down" else connection.up_bytes)
    ]


def program_results(recording: Recording, plan: PlanView) -> dict[str, bool]:
    """Whether each command that was run came to its end: exit status 0, or its time was over."""
    if not plan.commands:
        return {}
    return {
        row["traffic"]: row["ended"] == "duration" or row["status"] == 0
        for row in recording.rows("programs", ("traffic", "side", "ended", "status"))
        if row["side"] == "client" and row["traffic"] in plan.commands
    }


def program_times_s(recording: Recording, plan: PlanView, transfers: Sequence[Row]) -> list[float]:
    """From the first SYN to the last byte, of each command that left with exit status 0."""
    if not plan.commands:
        return []
    times = []
    for run in recording.rows("programs", ("traffic", "side", "status")):
        if run["side"] != "client" or run["status"] != 0 or run["traffic"] not in plan.commands:
            continue
        own = [row for row in transfers if (row["kind"], row["traffic"]) == (KIND, run["traffic"])]
        starts, ends = known(own, "start_ns"), known(own, "end_ns")
        if starts and ends:
            times.append((max(ends) - min(starts)) / 1e9)
    return times


def _ends(recording: Recording) -> Iterator[End]:
    """Every socket with its other end; addresses that were used again are paired in their order."""
    rows = sorted(recording.rows("sockets", SOCKETS.schema), key=lambda row: row["first_ns"])
    seen: Counter[tuple[str, str]] = Counter()
    places: dict[tuple[str, int], Row] = {}
    numbered = []
    for row in rows:
        number = seen[row["node"], row["subflow"]]
        seen[row["node"], row["subflow"]] += 1
        places[row["subflow"], number] = row
        numbered.append((row, number))
    for row, number in numbered:
        local, _, remote = row["subflow"].partition("-")
        yield End(row, places.get((f"{remote}-{local}", number)))


def _is_of_the_other(ends: Sequence[End], clients: Mapping[str, str]) -> bool:
    """Whether a connection is another command's, which opened it."""
    if any(end.own["start_ns"] is not None for end in ends):
        return False
    peers = [end.peer for end in ends if end.peer is not None]
    return any(
        peer["traffic"] != ends[0].own["traffic"] and clients.get(peer["traffic"]) == peer["node"]
        for peer in peers
    )


def _connection(
    ends: Sequence[End], totals: Mapping[tuple[str, int], ConnectionTotals]
) -> Connection:
    own = ends[0].own
    peer = next((end.peer for end in ends if end.peer is not None), None)
    here = totals.get((own["node"], own["token"]), _UNKNOWN)
    there = _UNKNOWN if peer is None else totals.get((peer["node"], peer["token"]), _UNKNOWN)
    return Connection(
        ends,
        _once(
            sum(end.received for end in ends), here.bytes_received, there.bytes_retrans, len(ends)
        ),
        _once(
            sum(end.delivered for end in ends), there.bytes_received, here.bytes_retrans, len(ends)
        ),
    )


def _once(carried: int, received: int | None, reinjected: int | None, subflows: int) -> int:
    """Payload of a connection, of which its subflows ``carried`` some twice.

    ``received`` is what the connection itself had counted when it was last asked. What was carried
    beyond it came later, unless it was reinjected, or is the FIN of a subflow.
    """
    if received is None or received >= carried:
        return carried
    if carried - received <= subflows:
        return received
    return max(received, carried - (reinjected or 0))


def _last_byte_ns(receiver: Row | None, sender: Row | None) -> int | None:
    if receiver is not None and receiver["last_received_ns"] is not None:
        return int(receiver["last_received_ns"])
    return None if sender is None else sender["last_acked_ns"]


def _sent(row: Row) -> int:
    """Payload that a socket sent, each byte once."""
    return (row["bytes_sent"] or 0) - (row["bytes_retrans"] or 0)


def _acknowledged(row: Row) -> int:
    """Payload that the peer of a socket acknowledged; the SYN may be in it while not all is."""
    return min(row["bytes_acked"] or 0, _sent(row))


def _received(row: Row, sender: Row | None) -> int:
    """Payload that a socket received, by both ends' accounts."""
    received: int = row["bytes_received"] or 0
    if sender is None:
        return received
    if received == _sent(sender) + 1:
        return _sent(sender)
    # The kernel may have cleared the receiver's counters before they were read for the last time.
    return max(received, _acknowledged(sender)) if row["end_ns"] is not None else received


def _transfer(traffic: str, number: int, connection: Connection, way: str, plan: PlanView) -> Row:
    first = connection.ends[0].own
    local, _, remote = first["subflow"].partition("-")
    other, _ = plan.interface_of_address.get(_host(remote), (None, None))
    protocol = plan.protocol(traffic)
    return dict.fromkeys(TRANSFERS.schema) | {
        "traffic": traffic,
        "kind": KIND,
        "index": number,
        "client": first["node"],
        "server": other,
        "way": way,
        "protocol": protocol,
        "token": first["token"],
        "source": local,
        "target": remote,
        "start_ns": connection.start_ns,
        "end_ns": connection.end_ns(way),
        "bytes": connection.down_bytes if way == "down" else connection.up_bytes,
    }


def _host(end: str) -> str:
    return end.rpartition(":")[0].strip("[]")
