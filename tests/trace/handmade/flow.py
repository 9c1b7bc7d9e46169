"""Subflows and connections made up segment by segment, with what is true of each segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.trace.handmade import options as opt
from tests.trace.handmade.captures import Frame
from tests.trace.handmade.keys import data_checksum, initial_sequence, token
from tests.trace.handmade.packets import End, ip_packet, segment

Side = Literal["client", "server"]
Truth = dict[str, Any]
START_NS = 1_700_000_000_123_456_789
MILLISECOND = 1_000_000


def other(side: Side) -> Side:
    return "server" if side == "client" else "client"


def content(offset: int, length: int) -> bytes:
    """Bytes of the connection's stream: a copy of them is the same wherever it is sent."""
    return bytes(
        (7 * position + position // 251) % 256 for position in range(offset, offset + length)
    )


@dataclass
class Received:
    """The part of a sequence that arrived: its left edge, and what lies ahead of that."""

    edge: int = 0
    ahead: list[tuple[int, int]] = field(default_factory=list)

    def take(self, start: int, end: int) -> None:
        self.ahead.append((start, end))
        self.ahead.sort()
        while self.ahead and self.ahead[0][0] <= self.edge:
            self.edge = max(self.edge, self.ahead.pop(0)[1])


@dataclass
class Talk:
    """A connection. Numbers are relative: 0 is the initial one, data begins at 1."""

    version: int
    client_key: int = 0x1122334455667788
    server_key: int = 0x99AABBCCDDEEFF01
    checksums: bool = False
    sequence_bytes: int = 8
    acknowledgement_bytes: int = 8
    now_ns: int = START_NS
    frames: list[Frame] = field(default_factory=list)
    truths: list[Truth] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    received: dict[Side, Received] = field(
        default_factory=lambda: {"client": Received(1), "server": Received(1)}
    )

    def key(self, side: Side) -> int:
        return self.client_key if side == "client" else self.server_key

    def token(self, side: Side) -> int:
        return token(self.version, self.key(side))

    def initial(self, side: Side) -> int:
        return initial_sequence(self.version, self.key(side))

    def keys(self, first: Side) -> tuple[int, int]:
        return self.key(first), self.key(other(first))

    def flow(self, client: End, server: End, **settings: Any) -> Flow:
        """Another subflow; nothing is sent of it yet."""
        made = Flow(self, {"client": client, "server": server}, len(self.flows), **settings)
        self.flows.append(made)
        return made

    def swap(self) -> None:
        """Lets the last two segments pass the capture in the other order."""
        one, two = self.frames[-2:]
        self.frames[-2:] = two._replace(at_ns=one.at_ns), one._replace(at_ns=two.at_ns)
        first, second = self.truths[-2:]
        seen = ({each: truth[each] for each in ("frame", "t_ns")} for truth in (first, second))
        self.truths[-2:] = [truth | when for truth, when in zip((second, first), seen, strict=True)]

    def wait(self, milliseconds: float) -> None:
        self.now_ns += int(milliseconds * MILLISECOND)


@dataclass
class Flow:
    """A subflow; `client` is the connection's client, whoever opened the subflow."""

    talk: Talk
    ends: dict[Side, End]
    number: int
    interface: int = 0
    opener: Side = "client"
    timestamps: bool = True
    initial: dict[Side, int] = field(
        default_factory=lambda: {"client": 0xFFFF_FF00, "server": 0x1234_5678}
    )
    next: dict[Side, int] = field(default_factory=lambda: {"client": 0, "server": 0})
    received: dict[Side, Received] = field(
        default_factory=lambda: {"client": Received(), "server": Received()}
    )
    echo: dict[Side, int] = field(default_factory=lambda: {"client": 0, "server": 0})

    def send(
        self,
        side: Side,
        flags: str = "A",
        payload: bytes = b"",
        options: Sequence[bytes] = (),
        *,
        sequence: int | None = None,
        acknowledgement: int | None = None,
        window: int = 1000,
        after_ms: float = 1,
        lost: bool = False,
        captured: bool = True,
        ecn: int = 0,
        **truth: Any,
    ) -> int:
        """A segment of `side`; gives the number of its frame.

        What is not said follows from what was sent before. `lost` segments do not arrive, and
        those that are not `captured` are lost before.
        """
        talk, peer = self.talk, other(side)
        talk.wait(after_ms)
        start = self.next[side] if sequence is None else sequence
        end = start + len(payload) + ("S" in flags) + ("F" in flags)
        if acknowledgement is None:
            acknowledgement = self.received[side].edge if "A" in flags else 0
        clock = talk.now_ns // MILLISECOND % 2**32
        stamps = [opt.timestamps(clock, self.echo[side])] if self.timestamps else []
        acknowledges = acknowledgement + self.initial[peer] if "A" in flags else 0
        body = segment(
            self.ends[side],
            self.ends[peer],
            sequence=start + self.initial[side],
            acknowledgement=acknowledges,
            flags=flags,
            window=window,
            options=b"".join([*stamps, *options]),
            payload=payload,
        )
        number = len(talk.frames) + 1
        packet = ip_packet(self.ends[side], self.ends[peer], body, identification=number, ecn=ecn)
        self.next[side] = max(self.next[side], end)
        if not captured:
            return 0
        talk.frames.append(Frame(talk.now_ns, self.interface, packet))
        moves = end > start or "R" in flags
        known = {
            "frame": number,
            "t_ns": talk.now_ns,
            "from": side,
            "subflow": self.number,
            "sequence": start,
            "acknowledgement": acknowledgement if "A" in flags else None,
            "payload_bytes": len(payload),
            "packet_bytes": len(packet),
            "kind": "new" if moves else "acknowledgement",
            "new_bytes": len(payload),
            "ecn": ecn,
        }
        talk.truths.append(known | truth)
        if not lost:
            self.received[peer].take(start, end)
            self.echo[peer] = clock
        return number

    def data(
        self,
        side: Side,
        offset: int,
        length: int,
        *,
        sequence: int | None = None,
        checksum: int | None = None,
        lost: bool = False,
        flags: str = "AP",
        fin: bool = False,
        **rest: Any,
    ) -> int:
        """Bytes of the connection's stream from `offset` on, with their mapping."""
        talk = self.talk
        start = self.next[side] if sequence is None else sequence
        mapped = talk.initial(side) + 1 + offset, start, length + fin
        data = content(offset, length)
        if talk.checksums and checksum is None:
            checksum = data_checksum(*mapped, data)
        option = opt.dss(
            acknowledgement=talk.initial(other(side)) + talk.received[side].edge,
            mapping=mapped,
            checksum=checksum,
            fin=fin,
            acknowledgement_bytes=talk.acknowledgement_bytes,
            sequence_bytes=talk.sequence_bytes,
        )
        truth = {
            "data_sequence": 1 + offset,
            "data_acknowledgement": talk.received[side].edge,
            "new_data_bytes": length,
            "reinjected_bytes": 0,
            "reinjected_from": None,
        }
        if not lost and rest.get("captured", True):
            talk.received[other(side)].take(1 + offset, 1 + offset + length + fin)
        return self.send(side, flags, data, [option], sequence=start, lost=lost, **(truth | rest))

    def acknowledge(self, side: Side, options: Sequence[bytes] = (), **rest: Any) -> int:
        """An acknowledgement at both levels."""
        talk = self.talk
        edge = talk.received[side].edge
        option = opt.dss(
            acknowledgement=talk.initial(other(side)) + edge,
            acknowledgement_bytes=talk.acknowledgement_bytes,
        )
        return self.send(
            side, "A", b"", [option, *options], **({"data_acknowledgement": edge} | rest)
        )

    def data_fin(self, side: Side, offset: int, **rest: Any) -> int:
        """A DATA_FIN that stands alone (section 3.3.3: subflow sequence number 0, length 1)."""
        talk = self.talk
        mapped = talk.initial(side) + 1 + offset, 0, 1
        edge = talk.received[side].edge
        option = opt.dss(
            acknowledgement=talk.initial(other(side)) + edge,
            mapping=mapped,
            checksum=data_checksum(*mapped, b"") if talk.checksums else None,
            fin=True,
            acknowledgement_bytes=talk.acknowledgement_bytes,
            sequence_bytes=talk.sequence_bytes,
        )
        talk.received[other(side)].take(1 + offset, 2 + offset)
        return self.send(side, "A", b"", [option], **({"data_acknowledgement": edge} | rest))

    def close(self, first: Side = "client") -> None:
        """FIN and its acknowledgement, each way."""
        self.send(first, "FA")
        self.send(other(first), "FA")
        self.send(first)
