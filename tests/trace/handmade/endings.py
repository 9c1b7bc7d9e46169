"""Pauses, ends that are told in parts, and what changes though it should not."""

from tests.trace.handmade import options as opt
from tests.trace.handmade.flow import Talk, content
from tests.trace.handmade.keys import address_hmac
from tests.trace.handmade.openings import (
    CLIENT,
    HMAC_FLAG,
    SERVER,
    join,
    open_connection,
    open_tcp,
    syn_options,
)


def pause() -> Talk:
    """An application that has nothing to send for a while, and then another subflow is taken."""
    talk = Talk(1)
    first = open_connection(talk)
    second = join(talk)
    for turn in range(3):
        first.data("client", 100 * turn, 100, after_ms=500)
        first.acknowledge("server", after_ms=120)
    for turn in range(3, 7):
        second.data("client", 100 * turn, 100, after_ms=14_680 if turn == 3 else 500)
        second.acknowledge("server", after_ms=120)
    return talk


def unacknowledged_end() -> Talk:
    """DATA_FINs of both ends, each with the FIN; that of the server is never acknowledged."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("client", 0, 100, fin=True)
    first.data("server", 0, 100, fin=True, flags="FA", after_ms=10)
    first.send("client", "FA", sequence=101)
    first.send("server", after_ms=10)
    return talk


def data_after_data_fin() -> Talk:
    """A reinjection on the subflow whose last segment brought the DATA_FIN."""
    talk = Talk(1)
    first = open_connection(talk)
    second = join(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    second.data("client", 100, 100, lost=True)
    first.data("client", 200, 100, fin=True)
    first.acknowledge("server", after_ms=10)
    first.data("client", 100, 100, new_data_bytes=0, reinjected_bytes=100, reinjected_from=1)
    first.acknowledge("server", after_ms=10)
    return talk


def fin_with_data() -> Talk:
    """A FIN in the segment with the last data."""
    talk = Talk(1)
    flow = open_tcp(talk)
    flow.send("client", "FA", bytes(100))
    flow.send("server", after_ms=10)
    return talk


def other_key() -> Talk:
    """A third ACK with another key of the server than its SYN/ACK."""
    talk = Talk(1)
    flow = talk.flow(CLIENT, SERVER)
    first = opt.capable(1, flags=HMAC_FLAG)
    flow.send("client", "S", options=syn_options(first), window=64_000)
    answer = opt.capable(1, talk.server_key, flags=HMAC_FLAG)
    flow.send("server", "SA", options=syn_options(answer), window=65_000, after_ms=10)
    flow.send("client", options=[opt.capable(1, talk.client_key, 0x42, flags=HMAC_FLAG)])
    flow.send(
        "client",
        "AP",
        content(0, 80),
        [opt.capable(1, *talk.keys("client"), data_bytes=80)],
        data_sequence=1,
        new_data_bytes=80,
    )
    return talk


def same_id() -> Talk:
    """An id that is announced with one address, and then with another one."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    for address in ("10.0.10.2", "10.0.10.3", "10.0.10.3"):
        announced = address_hmac(talk.keys("server"), 2, address)
        first.send("server", options=[opt.add_address(1, 2, address, hmac=announced)])
    return talk


def reset_alone() -> Talk:
    """A capture that has nothing but an RST with its reason."""
    talk = Talk(1)
    first = open_connection(talk)
    first.send("server", "RA", options=[opt.reset(1)])
    del talk.frames[:3], talk.truths[:3]
    return talk
