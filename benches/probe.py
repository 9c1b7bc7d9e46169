"""Numbered, time-stamped UDP packets: a program that sends them and one that notes their arrival.

    probe.py send FILE ADDRESS PORT PACKETS INTERVAL_NS PAYLOAD_BYTES
    probe.py receive FILE PORT

The packets go to several ports in turn, from PORT on: an ordinary user's socket has room for a few
milliseconds of packets, all of them together for as long as a receiver may be kept from running.

FILE gets a pair of 64-bit integers for each packet, in nanoseconds after the Unix epoch where they
are times: the sender's, by number, the clock just before and just after the system call; the
receiver's, by arrival, the packet's number and the kernel's time stamp (SO_TIMESTAMPNS).
"""

from __future__ import annotations

import contextlib
import selectors
import signal
import socket
import struct
import sys
import time
from array import array
from collections.abc import Iterator
from pathlib import Path

_SO_TIMESTAMPNS = 35
_PORTS = 16
_NUMBER = struct.Struct("=q")
_TIMESPEC = struct.Struct("@qq")
_HELLO = -1
"""Number of the packets that only resolve the hardware address."""
_SETTLE_S = 0.3
_LINGER_S = 1.0
"""The packets that are still on their way when the last one has been sent arrive meanwhile."""
_COARSE_S = 100e-6
"""The time by which a sleep may be too long."""


def send(file: str, address: str, port: str, packets: str, interval: str, payload: str) -> None:
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    targets = [(address, int(port) + number) for number in range(_PORTS)]
    interval_ns = int(interval)
    padding = bytes(int(payload) - _NUMBER.size)
    probe.sendto(_NUMBER.pack(_HELLO) + padding, targets[0])
    time.sleep(_SETTLE_S)
    sent = array("q")
    due = time.time_ns()
    for number in range(int(packets)):
        message, target = _NUMBER.pack(number) + padding, targets[number % _PORTS]
        wait = (due - time.time_ns()) / 1e9
        if wait > _COARSE_S:
            time.sleep(wait - _COARSE_S)
        while (now := time.time_ns()) < due:
            pass
        probe.sendto(message, target)
        sent.extend((now, time.time_ns()))
        due += interval_ns
    Path(file).write_bytes(sent.tobytes())
    time.sleep(_LINGER_S)


def receive(file: str, port: str) -> None:
    selector = selectors.DefaultSelector()
    for number in range(_PORTS):
        probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        probe.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)
        probe.bind(("", int(port) + number))
        selector.register(probe, selectors.EVENT_READ)
    # The lab takes a server as ready when it listens.
    door = socket.create_server(("", int(port)))
    arrived: list[tuple[int, int]] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            for key, _ in selector.select():
                assert isinstance(key.fileobj, socket.socket)
                arrived.extend(waiting(key.fileobj))
    arrived.sort()
    pairs = array("q", (each for at, number in arrived for each in (number, at)))
    Path(file).write_bytes(pairs.tobytes())
    door.close()


def waiting(probe: socket.socket) -> Iterator[tuple[int, int]]:
    """The time of arrival and the number of each packet that waits in a socket."""
    while True:
        try:
            data, ancillary, _, _ = probe.recvmsg(_NUMBER.size, 64)
        except BlockingIOError:
            return
        (number,) = _NUMBER.unpack(data)
        seconds, nanoseconds = _TIMESPEC.unpack(ancillary[0][2])
        if number != _HELLO:
            yield seconds * 1_000_000_000 + nanoseconds, number


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(*sys.argv[2:])
    else:
        receive(*sys.argv[2:])
