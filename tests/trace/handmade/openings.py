"""How connections and subflows open, in both versions."""

from typing import Any

from tests.trace.handmade import options as opt
from tests.trace.handmade.flow import Flow, Side, Talk, other
from tests.trace.handmade.keys import join_hmac
from tests.trace.handmade.packets import End

CLIENT = End("10.0.1.1", 40_000)
CLIENT_B = End("10.0.2.1", 40_001)
SERVER = End("10.0.9.2", 5001)
SERVER_B = End("10.0.10.2", 5001)
CLIENT_6 = End("fd00:1::1", 40_000)
CLIENT_6_B = End("fd00:2::1", 40_001)
SERVER_6 = End("fd00:9::2", 5001)
HMAC_FLAG, CHECKSUM_FLAG = 0x01, 0x80
RTT_MS = 10


def syn_options(*more: bytes, sack: bool = True) -> list[bytes]:
    """Those of an ordinary SYN: MSS, window scale 7, SACK; then `more`."""
    permitted = [opt.sack_permitted()] if sack else []
    return [opt.maximum_segment_size(1400), opt.window_scale(7), *permitted, *more]


def open_connection(
    talk: Talk, client: End = CLIENT, server: End = SERVER, **settings: Any
) -> Flow:
    """The three segments with MP_CAPABLE."""
    flow = talk.flow(client, server, **settings)
    flags = HMAC_FLAG | CHECKSUM_FLAG * talk.checksums
    mine = [] if talk.version else [talk.client_key]
    first = opt.capable(talk.version, *mine, flags=flags)
    flow.send("client", "S", options=syn_options(first), window=64_000)
    answer = opt.capable(talk.version, talk.server_key, flags=flags)
    flow.send("server", "SA", options=syn_options(answer), window=65_000, after_ms=RTT_MS)
    third = opt.capable(talk.version, *talk.keys("client"), flags=flags)
    flow.send("client", options=[third])
    return flow


def open_tcp(talk: Talk, client: End = CLIENT, server: End = SERVER, **settings: Any) -> Flow:
    """A handshake without MPTCP."""
    flow = talk.flow(client, server, **settings)
    flow.send("client", "S", options=syn_options(), window=64_000)
    flow.send("server", "SA", options=syn_options(), window=65_000, after_ms=RTT_MS)
    flow.send("client")
    return flow


def join(
    talk: Talk,
    client: End = CLIENT_B,
    server: End = SERVER,
    *,
    ids: tuple[int, int] = (1, 0),
    backup: tuple[bool, bool] = (False, False),
    nonces: tuple[int, int] = (0x01020304, 0xA1A2A3A4),
    opener: Side = "client",
    wrong: str = "",
    token_of: int | None = None,
    **settings: Any,
) -> Flow:
    """The four segments of a join; pairs are the opener's and its peer's.

    `wrong` has "peer" for a wrong HMAC in the SYN/ACK, "opener" for one in the third segment.
    """
    flow = talk.flow(client, server, opener=opener, **settings)
    peer = other(opener)
    target = talk.token(peer) if token_of is None else token_of
    syn = opt.join_syn(target, nonces[0], ids[0], backup=backup[0])
    flow.send(opener, "S", options=syn_options(syn), window=64_000)
    theirs = _hmac(talk, peer, (nonces[1], nonces[0]), "peer" in wrong)
    syn_ack = opt.join_syn_ack(theirs, nonces[1], ids[1], backup=backup[1])
    flow.send(peer, "SA", options=syn_options(syn_ack), window=65_000, after_ms=RTT_MS)
    ours = _hmac(talk, opener, nonces, "opener" in wrong)
    flow.send(opener, options=[opt.join_ack(ours)])
    flow.acknowledge(peer, after_ms=RTT_MS)
    return flow


def _hmac(talk: Talk, sender: Side, nonces: tuple[int, int], wrong: bool) -> bytes:
    value = join_hmac(talk.version, talk.keys(sender), nonces)
    return bytes([value[0] ^ 1]) + value[1:] if wrong else value
