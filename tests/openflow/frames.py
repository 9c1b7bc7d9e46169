"""Frames from the notation of Ryu's switch tests: a layer is a call of the class of its header."""

import ast
import operator
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import netaddr
from os_ken.lib.packet import (
    arp,
    ethernet,
    icmp,
    icmpv6,
    ipv4,
    ipv6,
    mpls,
    pbb,
    sctp,
    tcp,
    udp,
    vlan,
)
from os_ken.lib.packet.packet import Packet

_CLASSES = (
    arp.arp,
    ethernet.ethernet,
    icmp.icmp,
    icmp.echo,
    icmp.dest_unreach,
    icmpv6.icmpv6,
    icmpv6.nd_neighbor,
    icmpv6.nd_option_sla,
    icmpv6.nd_option_tla,
    ipv4.ipv4,
    ipv6.ipv6,
    ipv6.hop_opts,
    ipv6.auth,
    mpls.mpls,
    pbb.itag,
    sctp.sctp,
    sctp.chunk_data,
    tcp.tcp,
    udp.udp,
    vlan.vlan,
    vlan.svlan,
)
_NAMES: dict[str, Callable[..., Any]] = {
    **{one.__name__: one for one in _CLASSES},
    "bytes": bytes,
    "icmpv6echo": icmpv6.echo,
    "netaddr.EUI": netaddr.EUI,
    "netaddr.IPAddress": netaddr.IPAddress,
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
}
_CRC32C = 0x82F63B78
"""The polynomial, its bits reversed (RFC 9260, appendix A)."""


def frame(layers: Sequence[str], random: Random) -> bytes:
    """The bytes of a frame, outermost layer first; numbers left open are drawn.

    Raises `ValueError` where a layer is no such call.
    """
    packet = Packet()
    for layer in layers:
        try:
            packet.add_protocol(_value(ast.parse(layer, mode="eval").body, random))
        except (SyntaxError, TypeError, ValueError) as error:
            raise ValueError(f"no layer of a packet: {layer}: {error}") from error
    packet.serialize()
    return bytes(packet.data)


def is_drawn(layers: Sequence[str]) -> bool:
    """Whether each frame of this notation has numbers of its own."""
    return any("randint(" in layer for layer in layers)


def _value(node: ast.expr, random: Random) -> Any:
    """Evaluates the notation, and nothing else of Python: files of others may hold anything."""
    match node:
        case ast.Constant(value):
            return value
        case ast.List(elements):
            return [_value(one, random) for one in elements]
        case ast.BinOp(left, sign, right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_value(left, random), _value(right, random))
        case ast.Call(function, values, keywords):
            name = ast.unparse(function)
            called = random.randint if name == "randint" else _NAMES.get(name)
            if called is not None:
                named = {str(one.arg): _value(one.value, random) for one in keywords}
                return called(*(_value(one, random) for one in values), **named)
    raise ValueError(f"`{ast.unparse(node)}` is not understood")


@cache
def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_CRC32C if byte & 1 else 0)
    return byte


def _sctp_checksum(_: object, data: bytes) -> int:
    """The checksum in the order of its bytes on the wire (RFC 9260, appendix A)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _remainder((crc ^ byte) & 0xFF)
    return int.from_bytes((crc ^ 0xFFFFFFFF).to_bytes(4, "little"), "big")


# That of os-ken takes bytes for text, which Python 3 refuses.
sctp.sctp._checksum = _sctp_checksum
