"""Connections in which something goes wrong, or was not captured."""

from typing import Any

from tests.trace.handmade import options as opt
from tests.trace.handmade.flow import Talk
from tests.trace.handmade.openings import (
    CLIENT,
    CLIENT_B,
    SERVER,
    SERVER_B,
    join,
    open_connection,
    open_tcp,
    syn_options,
)

_HANDSHAKE, _JOIN = 3, 4
"""Segments until a connection is open, and until a subflow is."""


def wrong_hmac() -> Talk:
    """Three joins: a right one, one with a wrong HMAC in each direction."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    join(talk)
    join(talk, CLIENT_B._replace(port=40_002), wrong="opener")
    join(talk, CLIENT_B._replace(port=40_003), wrong="peer")
    return talk


def unknown_token() -> Talk:
    """A join to a token that nobody has, refused."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    lost = talk.flow(CLIENT_B, SERVER)
    lost.initial["server"] = -1
    alone: dict[str, Any] = {"connection": 1, "subflow": 0}
    syn = syn_options(opt.join_syn(0xDEADBEEF, 5, 1))
    lost.send("client", "S", options=syn, window=64_000, **alone)
    lost.send("server", "RA", options=[opt.reset(1)], sequence=1, after_ms=10, **alone)
    first.data("client", 100, 100)
    return talk


def from_the_middle() -> Talk:
    """A connection of two subflows whose handshakes were not captured."""
    talk = Talk(1)
    first = open_connection(talk)
    second = join(talk, CLIENT_B, SERVER_B)
    cut(talk, _HANDSHAKE + _JOIN)
    for turn in range(4):
        first.data("server", 2000 * turn, 1000)
        first.acknowledge("client")
        second.data("server", 2000 * turn + 1000, 1000)
        second.acknowledge("client")
    return talk


def stripped() -> Talk:
    """A server that answers MP_CAPABLE as if it knew TCP only."""
    talk = Talk(1)
    flow = talk.flow(CLIENT, SERVER)
    flow.send("client", "S", options=syn_options(opt.capable(1)), window=64_000)
    flow.send("server", "SA", options=syn_options(), window=65_000, after_ms=10)
    flow.send("client")
    flow.send("client", "AP", bytes(100))
    flow.send("server", after_ms=10)
    flow.close()
    return talk


def plain() -> Talk:
    """TCP and nothing else, with an urgent byte and a window that was never scaled."""
    talk = Talk(1)
    flow = open_tcp(talk, timestamps=False)
    flow.send("client", "APU", bytes(100))
    flow.send("server", "AP", bytes(1400), after_ms=10)
    flow.send("client", "AE")
    flow.send("client", "APC", bytes(10), ecn=2)
    flow.send("server", after_ms=10, ecn=3)
    flow.close("server")
    return talk


def reset_on_the_way() -> Talk:
    """A client that resets, with an acknowledgement, while data are on their way to it.

    What it acknowledged before left in the very nanosecond in which the data came.
    """
    talk = Talk(1)
    flow = open_tcp(talk)
    for _ in range(2):
        flow.send("server", "AP", bytes(1000))
        flow.send("client", after_ms=0)
    flow.send("server", "AP", bytes(1000))
    flow.send("client", "RA")
    flow.send("server", "AP", bytes(1000), acknowledgement=1)
    flow.send("server", "AP", bytes(1000), acknowledgement=1)
    return talk


def cut(talk: Talk, frames: int) -> None:
    """Forgets the first frames, as a capture does that began later."""
    del talk.frames[:frames], talk.truths[:frames]
