"""RSTs that their receiver must ignore (RFC 9293, section 3.10.7), and joins without a key."""

from typing import Any

from tests.trace.handmade import options as opt
from tests.trace.handmade.flow import Flow, Side, Talk
from tests.trace.handmade.odd import cut
from tests.trace.handmade.openings import CLIENT_B, SERVER, join, open_connection


def ignored(flow: Flow, side: Side, flags: str, **rest: Any) -> None:
    """A segment that its receiver does not accept."""
    flow.send(side, flags, **rest, kind="not_acceptable", lost=True)


def in_syn_sent() -> Talk:
    """A join whose opener acknowledges nothing before the SYN/ACK comes, answered by RST.

    The SYN is sent again, and the subflow opens.
    """
    talk = Talk(0)
    first = open_connection(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    early = talk.flow(CLIENT_B, SERVER)
    token = opt.join_syn(talk.token("server"), 0x01020304, 1)
    early.send("client", "S", options=[token], window=64_000, lost=True)
    zero = -early.initial["server"]
    ignored(early, "client", "A", sequence=1, acknowledgement=zero)
    ignored(early, "server", "R", sequence=zero, after_ms=10)
    # The initial number of the server is not told yet.
    talk.truths[-2]["acknowledgement"] = talk.truths[-1]["sequence"] = None
    talk.flows.pop()
    talk.wait(980)
    second = join(talk)
    talk.truths[-4]["kind"] = "timeout_retransmission"
    second.data("client", 100, 500)
    second.acknowledge("server", after_ms=10)
    return talk


def outside_of_the_window() -> Talk:
    """RSTs that someone forges in both directions, and one that ends the subflow."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("server", 0, 1000)
    first.acknowledge("client")
    # The windows are 128,000 bytes.
    ignored(first, "server", "R", sequence=1000)
    ignored(first, "server", "R", sequence=1001 + 128_001)
    ignored(first, "client", "RA", sequence=0)
    first.data("server", 1000, 1000)
    first.acknowledge("client")
    first.send("client", "R")
    return talk


def without_key() -> Talk:
    """A capture that begins with a join: the key was told before.

    What comes four seconds later ends the waiting for it.
    """
    talk = Talk(1)
    open_connection(talk)
    second = join(talk)
    for turn in range(3):
        second.data("server", 1000 * turn, 1000)
        second.acknowledge("client")
    second.send("server", sequence=3000, after_ms=4000, kind="keep_alive")
    second.acknowledge("client")
    second.data("server", 3000, 1000)
    second.acknowledge("client")
    cut(talk, 3)
    for truth in talk.truths:
        truth |= {"connection": 0, "subflow": 0}
    return talk
