"""Values that MPTCP derives from keys: RFC 6824 by SHA-1, RFC 8684 by SHA-256."""

import hashlib
import hmac
import struct
from ipaddress import ip_address

from tests.trace.handmade.packets import ones_complement

_HASHES = (hashlib.sha1, hashlib.sha256)
"""By the version of the protocol."""


def _digest(version: int, key: int) -> bytes:
    return _HASHES[version](struct.pack("!Q", key)).digest()


def token(version: int, key: int) -> int:
    """First 32 bits of the key's hash (section 3.2)."""
    return int.from_bytes(_digest(version, key)[:4])


def initial_sequence(version: int, key: int) -> int:
    """Initial data sequence number: last 64 bits of the key's hash (section 3.1)."""
    return int.from_bytes(_digest(version, key)[-8:])


def join_hmac(version: int, keys: tuple[int, int], nonces: tuple[int, int]) -> bytes:
    """HMAC of a join, by its sender's key and nonce first (section 3.2); at most 20 bytes of it."""
    message = struct.pack("!II", *nonces)
    return hmac.new(struct.pack("!QQ", *keys), message, _HASHES[version]).digest()[:20]


def address_hmac(
    keys: tuple[int, int], address_id: int, address: str, port: int | None = None
) -> bytes:
    """HMAC of ADD_ADDR, by its sender's key first: the last 8 bytes (RFC 8684, section 3.4.1)."""
    message = bytes([address_id]) + ip_address(address).packed + struct.pack("!H", port or 0)
    return hmac.new(struct.pack("!QQ", *keys), message, hashlib.sha256).digest()[-8:]


def data_checksum(data_sequence: int, subflow_sequence: int, length: int, data: bytes) -> int:
    """Checksum of a mapping and its data (section 3.3.1); the number is the 64-bit one."""
    pseudo = struct.pack("!QIHH", data_sequence % 2**64, subflow_sequence, length, 0)
    return 0xFFFF - ones_complement(pseudo + data)
