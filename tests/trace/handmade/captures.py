"""Capture files: pcap of every kind and pcapng, and what stands before IP in them."""

import gzip
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple


class Frame(NamedTuple):
    """A packet as an interface saw it."""

    at_ns: int
    interface: int
    packet: bytes
    """From the IP header on."""


class Link(NamedTuple):
    """A type of link (its number in pcap) and what it puts before an IP packet."""

    number: int
    before: Callable[[bytes], bytes]


_MACS = bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2])


def _ether_type(packet: bytes) -> bytes:
    return b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"


def _cooked(packet: bytes) -> bytes:
    return struct.pack("!HHH8s", 0, 1, 6, _MACS[:8]) + _ether_type(packet)


def _cooked_2(packet: bytes) -> bytes:
    return _ether_type(packet) + struct.pack("!HIHBB8s", 0, 3, 1, 0, 6, _MACS[:8])


def _family(packet: bytes) -> bytes:
    return struct.pack("<I", 10 if packet[0] >> 4 == 6 else 2)


LINKS = {
    "ethernet": Link(1, lambda packet: _MACS + _ether_type(packet)),
    "vlan": Link(1, lambda packet: _MACS + b"\x81\x00\x00\x07" + _ether_type(packet)),
    "qinq": Link(
        1, lambda packet: _MACS + b"\x88\xa8\x00\x08\x81\x00\x00\x07" + _ether_type(packet)
    ),
    "cooked": Link(113, _cooked),
    "cooked-2": Link(276, _cooked_2),
    "raw": Link(101, lambda _packet: b""),
    "null": Link(0, _family),
}
ETHERNET = LINKS["ethernet"]


def pcap(
    frames: Sequence[Frame],
    *,
    link: Link = ETHERNET,
    order: Literal["<", ">"] = "<",
    nanoseconds: bool = True,
    snap: int = 262_144,
) -> bytes:
    """A file of libpcap's format."""
    magic, unit = (0xA1B23C4D, 1) if nanoseconds else (0xA1B2C3D4, 1000)
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link.number)]
    for frame in frames:
        data = link.before(frame.packet) + frame.packet
        seconds, rest = divmod(frame.at_ns, 1_000_000_000)
        kept = data[:snap]
        parts.append(struct.pack(order + "IIII", seconds, rest // unit, len(kept), len(data)))
        parts.append(kept)
    return b"".join(parts)


def pcapng(frames: Sequence[Frame], *, links: Sequence[Link] = (ETHERNET,)) -> bytes:
    """A pcapng file of one section: an interface for each of `links`, times in nanoseconds."""
    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    parts = [_block(0x0A0D0D0A, section)]
    for number, link in enumerate(links):
        name = f"if{number}".encode()
        options = struct.pack(
            "<HH4sHHB3sHH", 2, len(name), name.ljust(4, b"\0"), 9, 1, 9, b"", 0, 0
        )
        parts.append(_block(1, struct.pack("<HHI", link.number, 0, 262_144) + options))
    for frame in frames:
        data = links[frame.interface].before(frame.packet) + frame.packet
        head = struct.pack(
            "<IIIII",
            frame.interface,
            frame.at_ns >> 32,
            frame.at_ns & 0xFFFFFFFF,
            len(data),
            len(data),
        )
        parts.append(_block(6, head + data))
    return b"".join(parts)


def _block(kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def write(file: Path, content: bytes) -> Path:
    """Writes a capture, compressed if its name says so."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)
    return file
