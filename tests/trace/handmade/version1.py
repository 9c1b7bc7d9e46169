"""Connections of MPTCP version 1 (RFC 8684)."""

from tests.trace.handmade import options as opt
from tests.trace.handmade.flow import Talk, content
from tests.trace.handmade.keys import address_hmac, data_checksum
from tests.trace.handmade.openings import (
    CHECKSUM_FLAG,
    CLIENT_6,
    CLIENT_6_B,
    CLIENT_B,
    HMAC_FLAG,
    SERVER_6,
    SERVER_B,
    join,
    open_connection,
)


def everything() -> Talk:
    """First data with MP_CAPABLE, addresses announced, echoed and removed, priorities, closing."""
    talk = Talk(1)
    first = open_connection(talk)
    first.send(
        "client",
        "AP",
        content(0, 80),
        [opt.capable(1, *talk.keys("client"), data_bytes=80)],
        data_sequence=1,
        new_data_bytes=80,
    )
    talk.received["server"].take(1, 81)
    first.acknowledge("server", after_ms=10)
    announced = address_hmac(talk.keys("server"), 2, SERVER_B.address)
    first.send("server", options=[opt.add_address(1, 2, SERVER_B.address, hmac=announced)])
    first.send("client", options=[opt.add_address(1, 2, SERVER_B.address, echo=True)])
    other = address_hmac(talk.keys("server"), 3, "10.0.11.2", 5002)
    first.send("server", options=[opt.add_address(1, 3, "10.0.11.2", 5002, hmac=other)])
    first.send("client", options=[opt.add_address(1, 3, "10.0.11.2", 5002, echo=True)])
    forged = opt.add_address(1, 4, "10.0.12.2", hmac=bytes(8))
    first.send("server", options=[forged])
    second = join(talk, CLIENT_B, SERVER_B, ids=(1, 2), backup=(True, False))
    talk.sequence_bytes = 4
    first.data("server", 0, 1000)
    first.acknowledge("client")
    talk.sequence_bytes, talk.acknowledgement_bytes = 8, 4
    second.send("client", options=[opt.priority(backup=False)])
    second.data("server", 1000, 1300, ecn=2)
    second.acknowledge("client")
    second.data("server", 2300, 1300, ecn=3)
    second.acknowledge("client")
    first.send("server", options=[opt.remove_address(3, 4)])
    first.data("server", 3600, 10, fin=True)
    first.acknowledge("client")
    first.data_fin("client", 80)
    first.acknowledge("server", after_ms=10)
    second.close()
    first.close("server")
    return talk


def with_checksums() -> Talk:
    """Checksums: of data with MP_CAPABLE, of odd lengths, and one that is wrong."""
    talk = Talk(1, checksums=True)
    first = open_connection(talk)
    flags = HMAC_FLAG | CHECKSUM_FLAG
    opening = content(0, 33)
    checksum = data_checksum(talk.initial("client") + 1, 1, 33, opening)
    with_data = opt.capable(1, *talk.keys("client"), flags=flags, data_bytes=33, checksum=checksum)
    first.send("client", "AP", opening, [with_data], data_sequence=1, new_data_bytes=33)
    talk.received["server"].take(1, 34)
    first.acknowledge("server", after_ms=10)
    second = join(talk)
    first.data("server", 0, 999)
    first.acknowledge("client")
    second.data("server", 999, 1000, checksum=0xDEAD, lost=True)
    failed = opt.fail(talk.initial("server") + 1000)
    second.send("client", "RA", options=[failed, opt.reset(5)], acknowledgement=1001)
    first.data("server", 999, 1000, new_data_bytes=0, reinjected_bytes=1000, reinjected_from=1)
    first.acknowledge("client")
    return talk


def ipv6() -> Talk:
    """IPv6, with an address of it announced with its port."""
    talk = Talk(1, checksums=True)
    first = open_connection(talk, CLIENT_6, SERVER_6)
    first.data("client", 0, 1000)
    first.acknowledge("server", after_ms=10)
    announced = address_hmac(talk.keys("server"), 2, "fd00:a::2", 5002)
    first.send("server", options=[opt.add_address(1, 2, "fd00:a::2", 5002, hmac=announced)])
    first.send("client", options=[opt.add_address(1, 2, "fd00:a::2", 5002, echo=True)])
    second = join(talk, CLIENT_6_B, SERVER_6, timestamps=False)
    second.data("server", 0, 1300, ecn=1)
    second.acknowledge("client")
    return talk


def infinite_mapping() -> Talk:
    """A mapping of length 0: from there on it is TCP (section 3.7)."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    infinite = opt.dss(mapping=(talk.initial("server") + 1, 1, 0))
    first.send("server", "AP", content(0, 700), [infinite])
    first.send("client")
    first.send("server", "AP", content(700, 700))
    first.send("client")
    first.close()
    return talk


def reset() -> Talk:
    """A subflow refused by MP_TCPRST, another closed by it, transient; then MP_FASTCLOSE."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    second = join(talk)
    second.data("client", 100, 100)
    second.send("server", "RA", options=[opt.reset(3, transient=True)], after_ms=10)
    gone = talk.flow(CLIENT_B._replace(port=40_777), SERVER_B)
    # An answer to a SYN that is not acknowledged is number 0 (RFC 9293, section 3.5.2).
    gone.initial["server"] = -1
    gone.send("client", "S", options=[opt.join_syn(talk.token("server"), 5, 1)])
    gone.send("server", "RA", options=[opt.reset(1)], sequence=1, after_ms=10)
    closing = [opt.fast_close(talk.server_key), opt.reset(0)]
    first.send("client", "RA", options=closing)
    return talk


def server_joins() -> Talk:
    """The server opens a subflow, to an address that the client announced."""
    talk = Talk(1)
    first = open_connection(talk)
    first.data("client", 0, 100)
    first.acknowledge("server", after_ms=10)
    announced = address_hmac(talk.keys("client"), 1, CLIENT_B.address)
    first.send("client", options=[opt.add_address(1, 1, CLIENT_B.address, hmac=announced)])
    first.send("server", options=[opt.add_address(1, 1, CLIENT_B.address, echo=True)])
    second = join(talk, CLIENT_B, SERVER_B, ids=(2, 1), opener="server")
    second.data("server", 0, 1000)
    second.acknowledge("client")
    return talk
