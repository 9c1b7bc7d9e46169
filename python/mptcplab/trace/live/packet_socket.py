"""Packets of an interface, by a packet socket of Linux (packet(7))."""

from __future__ import annotations

import errno
import socket
import struct
import time

from mptcplab.trace.errors import TraceError
from mptcplab.trace.live.capture_file import Described, Packet

ETHERNET, RAW_IP = 1, 101
"""Link types."""
_LINK_TYPES = {1: ETHERNET, 772: ETHERNET, 512: RAW_IP, 519: RAW_IP, 65534: RAW_IP}
"""By the kernel's type of hardware: Ethernet, loopback, PPP, raw IP, none (as TUN)."""
_LOOPBACK = 772
_ALL_PROTOCOLS = 3
_SO_TIMESTAMPNS, _SO_RCVBUFFORCE = 35, 33
_SOL_PACKET, _PACKET_STATISTICS, _PACKET_AUXDATA, _PACKET_IGNORE_OUTGOING = 263, 6, 8, 23
_AUXDATA = struct.Struct("IIIHHHH")
"""`struct tpacket_auxdata`: status, two lengths, two places, control and type of a tag."""
_VLAN_VALID, _VLAN_TPID_VALID = 1 << 4, 1 << 6
_TYPE_VLAN = 0x8100
"""Type of Ethernet of a tag of 802.1Q."""
_ADDRESSES_BYTES = 12
"""Bytes of a frame of Ethernet before its type."""
_TOLD_BYTES = socket.CMSG_SPACE(16) + socket.CMSG_SPACE(_AUXDATA.size)
"""All that the kernel tells of a packet: its time, and the rest."""
BUFFER_BYTES = 32 << 20
"""Room of the kernel for packets that were not taken yet."""
LARGEST_BYTES = 256 << 10
"""A packet that a host hands to its interface whole may have 64 KiB and more."""
AT_ONCE = 4096
"""Packets that are taken before others have their turn."""


class PacketSocket:
    """The packets of one interface."""

    def __init__(self, name: str, number: int) -> None:
        """Begins to capture; `number` is that of the interface in the file.

        Raises:
            TraceError: there is no such interface, its type is not known, or the system refuses.

        """
        self.number = number
        self.dropped = 0
        """Packets that the kernel had no room for."""
        known = sorted(each for _, each in socket.if_nameindex())
        if name not in known:
            raise TraceError(f"{name}: there is no such interface, only {', '.join(known)}")
        try:
            # Without a protocol, and so without packets, until it is bound.
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        except PermissionError as error:
            raise TraceError(_refused(name)) from error
        try:
            hardware = self._bind(name)
        except OSError as error:
            self._socket.close()
            raise TraceError(f"{name}: cannot be captured: {error.strerror}") from error
        if hardware not in _LINK_TYPES:
            self._socket.close()
            raise TraceError(f"{name}: an interface of type {hardware}, whose frames are not known")
        self.described = Described(name, _LINK_TYPES[hardware])
        if hardware == _LOOPBACK:
            # Each packet comes there twice, as one that leaves and as one that arrives.
            self._socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        self._buffer = bytearray(LARGEST_BYTES)

    def _bind(self, name: str) -> int:
        """Begins to take packets; returns the kernel's type of the hardware."""
        self._socket.setblocking(False)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, BUFFER_BYTES)
        except PermissionError:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        self._socket.bind((name, _ALL_PROTOCOLS))
        return int(self._socket.getsockname()[3])

    def fileno(self) -> int:
        """Returns the descriptor, for selectors."""
        return self._socket.fileno()

    def take(self) -> list[Packet]:
        """Returns the packets that have come, at most `AT_ONCE`.

        Raises:
            TraceError: the interface is gone, or down.

        """
        packets: list[Packet] = []
        while len(packets) < AT_ONCE:
            try:
                size, told, _, _ = self._socket.recvmsg_into([self._buffer], _TOLD_BYTES)
            except BlockingIOError:
                break
            except OSError as error:
                why = "is down" if error.errno == errno.ENETDOWN else error.strerror
                raise TraceError(f"{self.described.name}: {why}") from error
            data = bytes(self._buffer[:size])
            if self.described.link_type == ETHERNET:
                data = _with_tag(data, told)
            packets.append(Packet(self.number, _stamp(told), data, len(data)))
        return packets

    def count_dropped(self) -> int:
        """Returns how many packets the kernel had no room for, since the beginning."""
        found = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        # Each question sets the counters to 0.
        self.dropped += struct.unpack("II", found)[1]
        return self.dropped

    def close(self) -> None:
        """Ends the capture."""
        self._socket.close()


def _refused(name: str) -> str:
    return (
        f"{name}: the system does not let this user capture (CAP_NET_RAW): run it by sudo; or, "
        f"where dumpcap may, `dumpcap -i {name} -w FILE.pcapng` and `mptcplab trace FILE.pcapng`; "
        "or in a network namespace of your own, such as that of `mptcplab enter`"
    )


def _with_tag(frame: bytes, told: list[tuple[int, int, bytes]]) -> bytes:
    """Puts back the VLAN tag that the kernel takes off the frame: the outermost one."""
    for level, kind, data in told:
        if level == _SOL_PACKET and kind == _PACKET_AUXDATA:
            status, *_, control, protocol = _AUXDATA.unpack(data[: _AUXDATA.size])
            if status & _VLAN_VALID:
                known = status & _VLAN_TPID_VALID
                tag = struct.pack("!HH", protocol if known else _TYPE_VLAN, control)
                return frame[:_ADDRESSES_BYTES] + tag + frame[_ADDRESSES_BYTES:]
    return frame


def _stamp(told: list[tuple[int, int, bytes]]) -> int:
    """Returns the kernel's time of a packet."""
    for level, kind, data in told:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            return int(seconds) * 10**9 + int(nanoseconds)
    return time.time_ns()
