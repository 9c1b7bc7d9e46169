"""Copies over MPTCP as the plainest program would, with a buffer of 1 MiB and nothing cleverer.

netcat_loop.py listen PORT > FILE
netcat_loop.py send PORT < FILE
"""

from __future__ import annotations

import os
import socket
import sys

_BUFFER_BYTES = 1 << 20


def listen(port: str) -> None:
    with _socket() as listener:
        listener.bind(("127.0.0.1", int(port)))
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            buffer = memoryview(bytearray(_BUFFER_BYTES))
            while received := connection.recv_into(buffer):
                written = 0
                while written < received:
                    written += os.write(sys.stdout.fileno(), buffer[written:received])


def send(port: str) -> None:
    with _socket() as connection:
        connection.connect(("127.0.0.1", int(port)))
        buffer = memoryview(bytearray(_BUFFER_BYTES))
        while length := os.readv(sys.stdin.fileno(), [buffer]):
            connection.sendall(buffer[:length])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


def _socket() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)


if __name__ == "__main__":
    {"listen": listen, "send": send}[sys.argv[1]](sys.argv[2])
