"""Connections of MPTCP version 0 (RFC 6824)."""

from tests.trace.handmade import options as opt
from tests.trace.handmade.flow import Talk
from tests.trace.handmade.openings import (
    CLIENT_6,
    CLIENT_6_B,
    SERVER_6,
    join,
    open_connection,
)


def everything() -> Talk:
    """Data by both lengths of numbers, an announced address with and without port, and the rest."""
    talk = Talk(0)
    first = open_connection(talk)
    talk.sequence_bytes = talk.acknowledgement_bytes = 4
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    talk.sequence_bytes = talk.acknowledgement_bytes = 8
    first.data("server", 0, 1000)
    first.acknowledge("client")
    first.send("server", options=[opt.add_address(0, 2, "10.0.10.2")])
    first.send("server", options=[opt.add_address(0, 3, "10.0.11.2", 5002)])
    second = join(talk, ids=(1, 0), backup=(True, False))
    second.send("client", options=[opt.priority(backup=False)])
    first.send("client", options=[opt.priority(backup=True, address_id=1)])
    second.data("server", 1000, 1400)
    talk.acknowledgement_bytes = 4
    second.acknowledge("client")
    second.data("client", 100, 50)
    second.acknowledge("server", after_ms=10)
    first.send("server", options=[opt.remove_address(2, 3)])
    first.data("server", 2400, 100, fin=True)
    first.acknowledge("client")
    second.data_fin("client", 150)
    second.acknowledge("server", after_ms=10)
    first.close()
    second.close("server")
    return talk


def with_checksums() -> Talk:
    """Checksums, one of them wrong, which the receiver answers by MP_FAIL and the end."""
    talk = Talk(0, checksums=True)
    first = open_connection(talk)
    second = join(talk)
    first.data("client", 0, 101)
    first.acknowledge("server", after_ms=10)
    second.data("client", 101, 200)
    second.acknowledge("server", after_ms=10)
    second.data("client", 301, 300, checksum=0xBEEF, lost=True)
    failed = opt.fail(talk.initial("client") + 302)
    second.send("server", "RA", options=[failed], acknowledgement=501, after_ms=10)
    first.data("client", 301, 300, new_data_bytes=0, reinjected_bytes=300, reinjected_from=1)
    first.acknowledge("server", after_ms=10)
    return talk


def ipv6() -> Talk:
    """The handshakes and some data over IPv6, an address announced with its port."""
    talk = Talk(0, checksums=True, sequence_bytes=4)
    first = open_connection(talk, CLIENT_6, SERVER_6)
    first.data("client", 0, 1000)
    first.acknowledge("server", after_ms=10)
    first.send("server", options=[opt.add_address(0, 2, "fd00:a::2")])
    second = join(talk, CLIENT_6_B, SERVER_6, timestamps=False)
    second.send("server", options=[opt.add_address(0, 3, "fd00:b::2", 5003)])
    second.data("server", 0, 1300)
    second.acknowledge("client")
    return talk


def fast_close() -> Talk:
    """The client ends it all by MP_FASTCLOSE with the server's key (section 3.5)."""
    talk = Talk(0)
    first = open_connection(talk)
    first.data("client", 0, 500)
    first.acknowledge("server", after_ms=10)
    second = join(talk)
    first.send("client", options=[opt.fast_close(talk.server_key)])
    second.send("client", "RA")
    first.send("server", "RA", after_ms=10)
    return talk
