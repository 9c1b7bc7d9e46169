"""IP packets with TCP in them, with all checksums right."""

import struct
from ipaddress import ip_address
from typing import NamedTuple

_FLAGS = "FSRPAUEC"
"""Bit 0 first, as in the header."""
_TCP = 6


class End(NamedTuple):
    """One end of a subflow."""

    address: str
    port: int

    @property
    def bits(self) -> bytes:
        return ip_address(self.address).packed


def ones_complement(data: bytes) -> int:
    """Ones' complement sum of 16-bit words (RFC 1071), folded and not inverted."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(word for (word,) in struct.iter_unpack("!H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def flag_bits(letters: str) -> int:
    return sum(1 << _FLAGS.index(letter) for letter in letters)


def segment(
    source: End,
    destination: End,
    *,
    sequence: int,
    acknowledgement: int,
    flags: str,
    window: int,
    options: bytes,
    payload: bytes,
) -> bytes:
    """A TCP segment (RFC 9293, section 3.1)."""
    options += b"\x01" * (-len(options) % 4)
    assert len(options) <= 40, "TCP has room for 40 bytes of options"
    header = struct.pack(
        "!HHIIBBHHH",
        source.port,
        destination.port,
        sequence % 2**32,
        acknowledgement % 2**32,
        (20 + len(options)) // 4 << 4,
        flag_bits(flags),
        window,
        0,
        0,
    )
    whole = header + options + payload
    pseudo = source.bits + destination.bits + struct.pack("!II", len(whole), _TCP)
    checksum = 0xFFFF - ones_complement(pseudo + whole)
    return whole[:16] + struct.pack("!H", checksum) + whole[18:]


def ip_packet(
    source: End, destination: End, body: bytes, *, identification: int, ecn: int = 0
) -> bytes:
    """An IPv4 or IPv6 packet, as the addresses are."""
    if len(source.bits) == 16:
        head = struct.pack("!IHBB", 6 << 28 | ecn << 20, len(body), _TCP, 64)
        return head + source.bits + destination.bits + body
    head = struct.pack(
        "!BBHHHBBH", 0x45, ecn, 20 + len(body), identification % 2**16, 0x4000, 64, _TCP, 0
    )
    checksum = 0xFFFF - ones_complement(head + source.bits + destination.bits)
    return head[:10] + struct.pack("!H", checksum) + source.bits + destination.bits + body
