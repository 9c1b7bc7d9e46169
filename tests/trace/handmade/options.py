"""Options of TCP and MPTCP as bytes, of both versions of the protocol."""

import struct
from ipaddress import ip_address

_MPTCP = 30
NOTHING = b"\x01"
_DATA_BYTES = {4: "!I", 8: "!Q"}


def maximum_segment_size(size: int) -> bytes:
    return struct.pack("!BBH", 2, 4, size)


def window_scale(shift: int) -> bytes:
    return bytes([3, 3, shift])


def sack_permitted() -> bytes:
    return bytes([4, 2])


def sack(*blocks: tuple[int, int]) -> bytes:
    edges = b"".join(struct.pack("!II", left % 2**32, right % 2**32) for left, right in blocks)
    return bytes([5, 2 + len(edges)]) + edges


def timestamps(value: int, echo: int) -> bytes:
    return struct.pack("!BBII", 8, 10, value, echo)


def _mptcp(subtype: int, nibble: int, rest: bytes = b"") -> bytes:
    return bytes([_MPTCP, 3 + len(rest), subtype << 4 | nibble]) + rest


def capable(
    version: int,
    *keys: int,
    flags: int = 0x01,
    data_bytes: int | None = None,
    checksum: int | None = None,
) -> bytes:
    """MP_CAPABLE; `flags` as A to H from bit 7 to bit 0."""
    rest = bytes([flags]) + b"".join(struct.pack("!Q", key) for key in keys)
    if data_bytes is not None:
        rest += struct.pack("!H", data_bytes)
    if checksum is not None:
        rest += struct.pack("!H", checksum)
    return _mptcp(0, version, rest)


def join_syn(token: int, nonce: int, address_id: int, *, backup: bool = False) -> bytes:
    return _mptcp(1, int(backup), struct.pack("!BII", address_id, token, nonce))


def join_syn_ack(hmac: bytes, nonce: int, address_id: int, *, backup: bool = False) -> bytes:
    rest = bytes([address_id]) + hmac[:8] + struct.pack("!I", nonce)
    return _mptcp(1, int(backup), rest)


def join_ack(hmac: bytes) -> bytes:
    return _mptcp(1, 0, b"\0" + hmac[:20])


def dss(
    *,
    acknowledgement: int | None = None,
    mapping: tuple[int, int, int] | None = None,
    checksum: int | None = None,
    fin: bool = False,
    acknowledgement_bytes: int = 8,
    sequence_bytes: int = 8,
) -> bytes:
    """DSS; `mapping` is data sequence number, subflow sequence number and length."""
    flags, rest = 16 * fin, b""
    if acknowledgement is not None:
        flags |= 1 | 2 * (acknowledgement_bytes == 8)
        number = acknowledgement % (1 << 8 * acknowledgement_bytes)
        rest += struct.pack(_DATA_BYTES[acknowledgement_bytes], number)
    if mapping is not None:
        data_sequence, subflow_sequence, length = mapping
        flags |= 4 | 8 * (sequence_bytes == 8)
        number = data_sequence % (1 << 8 * sequence_bytes)
        rest += struct.pack(_DATA_BYTES[sequence_bytes], number)
        rest += struct.pack("!IH", subflow_sequence, length)
        if checksum is not None:
            rest += struct.pack("!H", checksum)
    return _mptcp(2, 0, bytes([flags]) + rest)


def add_address(
    version: int,
    address_id: int,
    address: str,
    port: int | None = None,
    *,
    hmac: bytes = b"",
    echo: bool = False,
) -> bytes:
    """ADD_ADDR: version 0 has the IP version and no HMAC, version 1 the echo flag."""
    bits = ip_address(address)
    rest = bytes([address_id]) + bits.packed
    if port is not None:
        rest += struct.pack("!H", port)
    return _mptcp(3, int(echo) if version else bits.version, rest + hmac)


def remove_address(*ids: int) -> bytes:
    return _mptcp(4, 0, bytes(ids))


def priority(*, backup: bool, address_id: int | None = None) -> bytes:
    """MP_PRIO; only version 0 may name an address."""
    return _mptcp(5, int(backup), b"" if address_id is None else bytes([address_id]))


def fail(data_sequence: int) -> bytes:
    return _mptcp(6, 0, b"\0" + struct.pack("!Q", data_sequence % 2**64))


def fast_close(key: int) -> bytes:
    return _mptcp(7, 0, b"\0" + struct.pack("!Q", key))


def reset(reason: int, *, transient: bool = False) -> bytes:
    return _mptcp(8, int(transient), bytes([reason]))
