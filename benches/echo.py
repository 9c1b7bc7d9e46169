"""Echoes of ICMP, answered by the peer's kernel and stamped by this one's: what a network takes.

    echo.py ADDRESS COUNT INTERVAL_MS BYTES

Packets of so many bytes; prints the round-trip times in microseconds as JSON.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

_SO_TIMESTAMPNS = 35
_REQUEST, _REPLY = 8, 0
_HEAD = struct.Struct("!BBHHH")
_TIMESPEC = struct.Struct("@qq")
_IPV4_BYTES = 20
_PATIENCE_S = 1.0


def main() -> None:
    """One echo after the other; one that is lost is left out."""
    address, (count, interval_ms, packet_bytes) = sys.argv[1], map(int, sys.argv[2:])
    payload = bytes(packet_bytes - _IPV4_BYTES - _HEAD.size)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as echoes:
        echoes.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        echoes.settimeout(_PATIENCE_S)
        echoes.connect((address, 0))
        # The first one resolves the hardware address.
        times = []
        for number in range(count + 1):
            times.append(_time_us(echoes, number, payload))
            time.sleep(interval_ms / 1e3)
    print(json.dumps([one for one in times[1:] if one is not None]))


def _time_us(echoes: socket.socket, number: int, payload: bytes) -> float | None:
    request = _HEAD.pack(_REQUEST, 0, 0, 0, number) + payload
    total = sum(struct.unpack(f"!{len(request) // 2}H", request))
    checksum = 0xFFFF - (total % 0xFFFF)
    request = _HEAD.pack(_REQUEST, 0, checksum, 0, number) + payload
    began_ns = time.time_ns()
    echoes.send(request)
    try:
        while True:
            data, ancillary, _, _ = echoes.recvmsg(2_000, 64)
            kind, _, _, _, of = _HEAD.unpack_from(data, (data[0] & 15) * 4)
            if (kind, of) == (_REPLY, number):
                seconds, nanoseconds = _TIMESPEC.unpack(ancillary[0][2])
                return float(seconds * 1_000_000_000 + nanoseconds - began_ns) / 1e3
    except TimeoutError:
        return None


if __name__ == "__main__":
    main()
