"""Losses whose truth is known: what was reinjected, and which retransmission was needless."""

from typing import Any

from tests.trace.handmade import options as opt
from tests.trace.handmade.flow import Talk
from tests.trace.handmade.openings import (
    CLIENT,
    SERVER,
    join,
    open_connection,
    open_tcp,
    syn_options,
)


def reinjected() -> Talk:
    """Bytes lost on one subflow and sent again on another, cut otherwise, and in part."""
    talk = Talk(1)
    first = open_connection(talk)
    second = join(talk)
    first.data("client", 0, 1000)
    first.acknowledge("server", after_ms=10)
    first.data("client", 1000, 1000, lost=True)
    second.data("client", 2000, 1000)
    second.acknowledge("server", after_ms=10)
    # The data that was lost, in two parts on the other subflow.
    copy: dict[str, Any] = {"new_data_bytes": 0, "reinjected_from": 0}
    second.data("client", 1000, 400, reinjected_bytes=400, **copy)
    second.data("client", 1400, 600, reinjected_bytes=600, **copy)
    second.acknowledge("server", after_ms=10)
    # TCP sends it again all the same: nothing new at either level, and no reinjection.
    first.data(
        "client",
        1000,
        1000,
        sequence=1001,
        after_ms=250,
        kind="timeout_retransmission",
        new_bytes=0,
        new_data_bytes=0,
    )
    first.acknowledge("server", after_ms=10)
    # Half of it was sent on the second subflow before, half is new.
    first.data("client", 2500, 1000, new_data_bytes=500, reinjected_bytes=500, reinjected_from=1)
    first.acknowledge("server", after_ms=10)
    # A second copy of what was reinjected already is reinjected too; this subflow was the first.
    first.data("client", 1000, 400, new_data_bytes=0, reinjected_bytes=400, reinjected_from=0)
    first.acknowledge("server", after_ms=10)
    return talk


def retransmitted() -> Talk:
    """A fast retransmission that was needed, one by time, and segments in another order."""
    talk = Talk(1)
    flow = open_connection(talk)
    again: dict[str, Any] = {"new_bytes": 0, "new_data_bytes": 0}
    flow.data("server", 0, 1000)
    flow.acknowledge("client")
    flow.data("server", 1000, 1000, lost=True)
    for offset in (2000, 3000, 4000):
        flow.data("server", offset, 1000)
        block = opt.sack((1 + 2000 + 0x1234_5678, offset + 1001 + 0x1234_5678))
        flow.acknowledge("client", [block], acknowledgement=1001, after_ms=0.1)
    flow.data("server", 1000, 1000, sequence=1001, kind="fast_retransmission", after_ms=10, **again)
    flow.acknowledge("client")
    flow.data("server", 5000, 1000, lost=True)
    flow.data(
        "server", 5000, 1000, sequence=5001, kind="timeout_retransmission", after_ms=300, **again
    )
    flow.acknowledge("client")
    # The network swapped two segments: what comes late had not been seen before.
    flow.data("server", 6000, 1000, kind="out_of_order")
    flow.data("server", 7000, 1000)
    talk.swap()
    flow.acknowledge("client")
    return talk


def lost_before() -> Talk:
    """At the receiver: two segments were lost on their way, and come when they are sent again.

    The second repair follows close upon new data, as if it had only been overtaken.
    """
    talk = Talk(1)
    flow = open_connection(talk)
    flow.data("server", 0, 1000)
    flow.acknowledge("client")
    flow.data("server", 1000, 1000, captured=False)
    flow.data("server", 2000, 1000, captured=False)
    base = flow.initial["server"]
    for offset in (3000, 4000, 5000):
        flow.data("server", offset, 1000)
        block = opt.sack((base + 3001, base + offset + 1001))
        flow.acknowledge("client", [block], after_ms=0.1)
    repair: dict[str, Any] = {"kind": "fast_retransmission"}
    flow.data("server", 1000, 1000, sequence=1001, after_ms=20, **repair)
    flow.acknowledge("client", [opt.sack((base + 3001, base + 6001))], after_ms=0.1)
    flow.data("server", 6000, 1000)
    flow.data("server", 2000, 1000, sequence=2001, after_ms=1, **repair)
    flow.acknowledge("client", after_ms=0.1)
    return talk


def many_holes() -> Talk:
    """At the receiver: eight of twenty segments were lost on their way, and come later."""
    talk = Talk(1)
    flow = open_connection(talk)
    lost = (1, 2, 6, 8, 9, 10, 11, 12)
    for number in range(20):
        flow.data("server", 100 * number, 100, captured=number not in lost, after_ms=0.1)
    for number in lost:
        offset = 100 * number
        kind = "timeout_retransmission"
        flow.data("server", offset, 100, sequence=1 + offset, after_ms=2, kind=kind)
    flow.acknowledge("client", after_ms=0.1)
    return talk


def spurious() -> Talk:
    """Two retransmissions, of which the receiver says by D-SACK that one was needless."""
    talk = Talk(1)
    flow = open_connection(talk)
    again: dict[str, Any] = {"new_bytes": 0, "new_data_bytes": 0, "kind": "timeout_retransmission"}
    base = flow.initial["server"]
    flow.data("server", 0, 1000)
    flow.data("server", 0, 1000, sequence=1, after_ms=250, **again)
    flow.acknowledge("client", after_ms=20)
    twice = opt.sack((base + 1, base + 1001))
    flow.acknowledge("client", [twice])
    flow.data("server", 1000, 1000, lost=True)
    flow.data("server", 1000, 1000, sequence=1001, after_ms=300, **again)
    flow.acknowledge("client")
    return talk


def probes() -> Talk:
    """A window that closes, a probe of it, and keep-alives with a byte and without."""
    talk = Talk(1)
    flow = open_tcp(talk)
    flow.send("client", "AP", bytes(500))
    flow.send("server", window=0, after_ms=10)
    flow.send("client", "A", bytes(1), after_ms=250, kind="window_probe", lost=True, new_bytes=1)
    flow.send("server", window=0, after_ms=10)
    flow.send("server", window=500)
    resent: dict[str, Any] = {"kind": "timeout_retransmission", "new_bytes": 299}
    flow.send("client", "AP", bytes(300), sequence=501, **resent)
    flow.send("server", window=500, after_ms=10)
    edge = flow.next["client"] - 1
    keep_alive: dict[str, Any] = {"kind": "keep_alive", "new_bytes": 0}
    flow.send("client", sequence=edge, after_ms=5000, **keep_alive)
    flow.send("server", window=500, after_ms=10)
    flow.send("client", "A", bytes(1), sequence=edge, after_ms=5000, **keep_alive)
    flow.send("server", window=500, after_ms=10)
    return talk


def lost_ends() -> Talk:
    """The SYN and the FIN are lost, and sent again by time."""
    talk = Talk(1)
    flow = talk.flow(CLIENT, SERVER)
    again = "timeout_retransmission"
    flow.send("client", "S", options=syn_options(), window=64_000, lost=True)
    flow.send(
        "client", "S", options=syn_options(), window=64_000, sequence=0, after_ms=1000, kind=again
    )
    flow.send("server", "SA", options=syn_options(), window=65_000, after_ms=10)
    flow.send("client")
    flow.send("client", "FA", lost=True)
    flow.send("client", "FA", sequence=1, after_ms=300, kind=again)
    flow.send("server", "FA", after_ms=10)
    flow.send("client", after_ms=1)
    return talk
