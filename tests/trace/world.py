"""Connections whose truth is known: every packet with the times at which it left and came in."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

MS = 1_000_000
SECOND = 1_000_000_000
START_NS = 1_700_000_000 * SECOND
SEGMENT = 1400
CLIENT_KEY, SERVER_KEY = 0x0123456789ABCDEF, 0xFEDCBA9876543210
CLIENT_TOKEN, SERVER_TOKEN = 0x1A2B3C4D, 0x5E6F7081


@dataclass
class Path:
    """The way of a subflow."""

    client: tuple[str, int]
    server: tuple[str, int]
    delay_ns: int
    """One way, each way."""
    address_ids: tuple[int, int] = (0, 0)


@dataclass
class Packet:
    """A packet, and what the analysis is to find of it."""

    connection: int
    subflow: int
    sender: str
    sent_ns: int
    came_ns: int | None
    """Null: lost."""
    path: Path
    flags: str
    sequence: int
    acknowledgement: int | None
    payload_bytes: int = 0
    kind: str = "new"
    mptcp: str | None = None
    data_sequence: int | None = None
    data_acknowledgement: int | None = None
    new_bytes: int = 0
    new_data_bytes: int = 0
    reinjected_bytes: int = 0
    reinjected_from: int | None = None
    newly_acknowledged_bytes: int = 0
    in_flight_bytes: int = 0
    rtt_ns: int | None = None
    identification: int = 0


@dataclass
class Event:
    """A row of the events."""

    connection: int
    subflow: int | None
    sender: str | None
    t_ns: int
    kind: str
    text: str


@dataclass
class World:
    """All packets and events."""

    packets: list[Packet] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    random: Random = field(default_factory=lambda: Random(8684))

    def tell(
        self,
        at: int,
        kind: str,
        text: str,
        *,
        connection: int = 0,
        subflow: int | None = None,
        sender: str | None = None,
    ) -> None:
        self.events.append(Event(connection, subflow, sender, START_NS + at, kind, text))


class Line:
    """One subflow: sends packets over its path, in both directions."""

    def __init__(self, world: World, connection: int, subflow: int, path: Path) -> None:
        self.world, self.connection, self.subflow, self.path = world, connection, subflow, path
        self.next = {"client": 0, "server": 0}
        self.seen: dict[str, int | None] = {"client": None, "server": None}
        self.flying = 0

    def send(
        self, at: int, sender: str, flags: str, *, lost: bool = False, **values: object
    ) -> Packet:
        """A packet so long after the start; its sequence number is the next unless given."""
        jitter = self.world.random.randrange(2 * MS)
        sent = START_NS + at
        number = len(self.world.packets) & 0xFFFF
        again = values.pop("sequence", None)
        packet = Packet(
            self.connection,
            self.subflow,
            sender,
            sent,
            None if lost else sent + self.path.delay_ns + jitter,
            self.path,
            flags,
            self.next[sender] if again is None else int(str(again)),
            self.seen[sender] if "A" in flags else None,
            identification=number,
        )
        for name, value in values.items():
            setattr(packet, name, value)
        if again is None:
            self.next[sender] += packet.payload_bytes + ("S" in flags) + ("F" in flags)
        other = "server" if sender == "client" else "client"
        self.seen[other] = max(self.seen[other] or 0, packet.sequence + packet.payload_bytes)
        if "S" in flags or "F" in flags:
            self.seen[other] = packet.sequence + packet.payload_bytes + 1
        self.world.packets.append(packet)
        return packet

    def handshake(self, at: int, syn: str | None, answer: str | None, third: str | None) -> int:
        """SYN, SYN/ACK, ACK; gives the time at which the client is established."""
        delay = self.path.delay_ns + 2 * MS
        self.send(at, "client", "S", mptcp=syn)
        self.send(at + delay, "server", "AS", mptcp=answer)
        self.send(at + 2 * delay, "client", "A", kind="acknowledgement", mptcp=third)
        return at + 2 * delay

    def data(
        self,
        at: int,
        data_sequence: int | None,
        *,
        lost: bool = False,
        answered: bool = True,
        **values: object,
    ) -> Packet:
        """A segment from the server, and its acknowledgement."""
        fresh = "sequence" not in values
        dss = None
        if data_sequence is not None:
            length = values.get("payload_bytes", SEGMENT)
            dss = f"DSS ack=1 ack_bytes=8 dsn={data_sequence} dsn_bytes=8 ssn=1 len={length}"
        defaults: dict[str, object] = {
            "payload_bytes": SEGMENT,
            "new_bytes": SEGMENT if fresh else 0,
            "new_data_bytes": SEGMENT if fresh else 0,
            "data_sequence": data_sequence,
            "mptcp": dss,
        }
        packet = self.send(at, "server", "AP", lost=lost, **(defaults | values))
        self.flying += packet.new_bytes
        packet.in_flight_bytes = self.flying
        if not lost and answered and packet.came_ns is not None:
            came = packet.came_ns - START_NS
            data_ack = None if data_sequence is None else data_sequence + SEGMENT
            answer = self.send(
                came + 50_000,
                "client",
                "A",
                kind="acknowledgement",
                data_acknowledgement=data_ack,
                mptcp=None if data_ack is None else f"DSS ack={data_ack} ack_bytes=8",
                newly_acknowledged_bytes=SEGMENT,
            )
            if fresh and answer.came_ns is not None:
                answer.rtt_ns = answer.came_ns - packet.sent_ns
        self.flying = (
            max(0, self.flying - (0 if lost else SEGMENT))
            if self.flying > 14_000
            else (self.flying)
        )
        return packet
