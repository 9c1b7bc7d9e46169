"""The connections of the tests: a handover with all that MPTCP signals, a fast close, plain TCP."""

from __future__ import annotations

from tests.trace.world import (
    CLIENT_KEY,
    MS,
    SECOND,
    SEGMENT,
    SERVER_KEY,
    SERVER_TOKEN,
    Line,
    Path,
    World,
)

WIFI, ETH, CELL = "10.0.1.2", "10.0.2.2", "10.0.3.2"
SERVER, SECOND_SERVER = "10.0.9.2", "10.0.8.2"
REINJECTED = 6
"""Segments that are sent over another subflow again."""
FAILS_NS, MOVES_NS, END_NS = 2 * SECOND, 2 * SECOND + 400 * MS, 4 * SECOND


def everything() -> World:
    """All of them."""
    world = World()
    handover(world)
    fast_close(world)
    plain(world)
    world.packets.sort(key=lambda packet: packet.sent_ns)
    return world


def handover(world: World) -> None:
    """Data over WiFi and Ethernet; WiFi dies, its data goes over Ethernet, a third path joins."""
    wifi = Line(world, 0, 0, Path((WIFI, 40000), (SERVER, 5001), 10 * MS))
    eth = Line(world, 0, 1, Path((ETH, 40001), (SERVER, 5001), 20 * MS, (1, 0)))
    cell = Line(world, 0, 2, Path((ETH, 40002), (SECOND_SERVER, 5001), 15 * MS, (1, 2)))
    ready = wifi.handshake(
        0,
        "MP_CAPABLE v1 flags=H",
        f"MP_CAPABLE v1 flags=H key=0x{SERVER_KEY:016x}",
        f"MP_CAPABLE v1 flags=H key=0x{CLIENT_KEY:016x} peer_key=0x{SERVER_KEY:016x}",
    )
    world.tell(0, "connection_opened", "MP_CAPABLE v1 flags=H", subflow=0, sender="client")
    announcement = f"ADD_ADDR id=2 address={SECOND_SERVER} port=5001 hmac=0x00112233445566aa"
    wifi.send(ready + 30 * MS, "server", "A", kind="acknowledgement", mptcp=announcement)
    world.tell(ready + 30 * MS, "address_announced", announcement, subflow=0, sender="server")
    echo = f"ADD_ADDR echo id=2 address={SECOND_SERVER}"
    wifi.send(ready + 50 * MS, "client", "A", kind="acknowledgement", mptcp=echo)
    world.tell(ready + 50 * MS, "address_echoed", echo, subflow=0, sender="client")
    joined = _join(world, eth, 180 * MS, 1)
    again: list[int] = []
    data = 1
    at = ready + 60 * MS
    number = 0
    while at < FAILS_NS:
        number += 1
        over = eth if number % 3 == 0 and at > joined else wifi
        if number % 150 == 0:
            lost = over.data(at, data, lost=True)
            over.data(
                at + 3 * over.path.delay_ns,
                data,
                sequence=lost.sequence,
                kind="fast_retransmission",
            )
        else:
            over.data(at, data)
        data += SEGMENT
        at += 2 * MS + world.random.randrange(MS)
    for _ in range(REINJECTED):
        wifi.data(at, data, lost=True)
        again.append(data)
        data += SEGMENT
        at += 2 * MS
    wifi.data(
        at + 250 * MS,
        again[0],
        lost=True,
        sequence=wifi.next["server"] - REINJECTED * SEGMENT,
        kind="timeout_retransmission",
    )
    world.tell(at + 250 * MS, "timeout", "the first of a series", subflow=0, sender="server")
    for number, sequence in enumerate(again):
        eth.data(
            MOVES_NS + number * MS,
            sequence,
            new_data_bytes=0,
            reinjected_bytes=SEGMENT,
            reinjected_from=0,
        )
    world.tell(
        MOVES_NS,
        "reinjection",
        f"{REINJECTED * SEGMENT} bytes of subflow 0",
        subflow=1,
        sender="server",
    )
    world.tell(
        MOVES_NS + 10 * MS, "traffic_moved", "from subflow 0 to 1", subflow=1, sender="server"
    )
    third = _join(world, cell, MOVES_NS + 200 * MS, 2, announced=True)
    prio = "MP_PRIO backup=1 id=1"
    eth.send(3 * SECOND, "client", "A", kind="acknowledgement", mptcp=prio)
    world.tell(3 * SECOND, "priority_changed", prio, subflow=1, sender="client")
    at = MOVES_NS + REINJECTED * MS + 2 * MS
    number = 0
    while at < END_NS:
        number += 1
        over = cell if number % 2 and at > third + 50 * MS else eth
        over.data(at, data)
        data += SEGMENT
        at += 3 * MS + world.random.randrange(MS)
    _close(world, eth, cell, data)


def _join(world: World, line: Line, at: int, identifier: int, announced: bool = False) -> int:
    ready = line.handshake(
        at,
        f"MP_JOIN backup=0 id={identifier} token=0x{SERVER_TOKEN:08x} nonce=0x0badcafe",
        f"MP_JOIN backup=0 id={identifier} hmac=0x8899aabbccddeeff nonce=0x0defaced",
        "MP_JOIN hmac=0x00112233445566778899aabbccddeeff00112233",
    )
    line.send(
        ready + line.path.delay_ns + 2 * MS,
        "server",
        "A",
        kind="acknowledgement",
        mptcp="DSS ack=1 ack_bytes=8",
    )
    words = "MP_JOIN by the client" + (", to the announced address 2" if announced else "")
    world.tell(at, "subflow_opened", words, subflow=line.subflow, sender="client")
    world.tell(ready, "subflow_established", "HMACs are right", subflow=line.subflow)
    return ready


def _close(world: World, eth: Line, cell: Line, data: int) -> None:
    fin = f"DSS fin ack=1 ack_bytes=8 dsn={data} dsn_bytes=8 ssn=0 len=1"
    cell.send(END_NS + 10 * MS, "server", "A", kind="acknowledgement", mptcp=fin)
    world.tell(END_NS + 10 * MS, "data_fin", fin, subflow=2, sender="server")
    acknowledged = f"DSS fin ack={data + 1} ack_bytes=8 dsn=1 dsn_bytes=8 ssn=0 len=1"
    cell.send(END_NS + 40 * MS, "client", "A", kind="acknowledgement", mptcp=acknowledged)
    world.tell(END_NS + 40 * MS, "data_fin", acknowledged, subflow=2, sender="client")
    last = "DSS ack=2 ack_bytes=8"
    cell.send(END_NS + 70 * MS, "server", "A", kind="acknowledgement", mptcp=last)
    world.tell(END_NS + 70 * MS, "data_fin_acknowledged", last, subflow=2, sender="server")
    for line in (eth, cell):
        line.send(END_NS + 80 * MS, "server", "AF")
        line.send(END_NS + 110 * MS, "client", "AF")
        line.send(END_NS + 140 * MS, "server", "A", kind="acknowledgement")
        world.tell(END_NS + 140 * MS, "subflow_closed", "FIN", subflow=line.subflow)
    world.tell(END_NS + 141 * MS, "connection_closed", "DATA_FIN of both ends")


def fast_close(world: World) -> None:
    """Ten segments, then MP_FASTCLOSE."""
    line = Line(world, 1, 0, Path((WIFI, 40100), (SERVER, 80), 10 * MS))
    ready = line.handshake(
        SECOND, "MP_CAPABLE v1 flags=H", "MP_CAPABLE v1 flags=H", "MP_CAPABLE v1 flags=H"
    )
    world.tell(SECOND, "connection_opened", "MP_CAPABLE v1", connection=1, subflow=0)
    for number in range(10):
        line.data(ready + number * 2 * MS, 1 + number * SEGMENT)
    closing = f"MP_FASTCLOSE key=0x{SERVER_KEY:016x}"
    line.send(ready + 60 * MS, "client", "AR", mptcp=closing)
    world.tell(ready + 60 * MS, "fast_close", closing, connection=1, subflow=0, sender="client")


def plain(world: World) -> None:
    """TCP, forty segments over an IPv6 path."""
    line = Line(world, 2, 0, Path(("2001:db8::2", 40200), ("2001:db8:9::2", 443), 5 * MS))
    ready = line.handshake(500 * MS, None, None, None)
    world.tell(500 * MS, "connection_opened", "TCP", connection=2, subflow=0)
    for number in range(40):
        line.data(ready + number * 2 * MS, None)
    line.send(ready + 200 * MS, "server", "AF")
    line.send(ready + 220 * MS, "client", "AF")
