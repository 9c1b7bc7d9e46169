"""Opens subflows again and again, and tells how long each took.

    subflow_probe.py open FILE ADDRESS PORT COUNT
    subflow_probe.py serve PORT

FILE gets two lists of JSON, in milliseconds: what connect() took, and what `open_subflow` took.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import time
from pathlib import Path

from mptcplab.subflow import Manager

_SETTLE_S = 0.03
"""The packets that are left of a subflow go meanwhile: the next one finds the path idle."""


def measure(file: str, address: str, port: str, count: str) -> None:
    manager = Manager.direct()
    target = address, int(port)
    connects = []
    for _ in range(int(count)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as sock:
            begun = time.perf_counter()
            sock.connect(target)
            connects.append((time.perf_counter() - begun) * 1e3)
        time.sleep(_SETTLE_S)
    opens = []
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as sock:
        sock.connect(target)
        sock.sendall(b"x")
        assert sock.recv(1) == b"x"
        own = sock.getsockname()[0]
        for _ in range(int(count)):
            begun = time.perf_counter()
            subflow = manager.open_subflow(sock, own)
            opens.append((time.perf_counter() - begun) * 1e3)
            manager.close_subflow(sock, subflow)
            time.sleep(_SETTLE_S)
    Path(file).write_text(json.dumps([connects, opens]), encoding="utf-8")


def serve(port: str) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A manager that has subscribed lets subflows join.
    manager = Manager.direct()
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    listener.bind(("", int(port)))
    listener.listen()
    try:
        while True:
            sock, _ = listener.accept()
            with sock:
                while heard := sock.recv(1):
                    sock.sendall(heard)
    except KeyboardInterrupt:
        del manager


if __name__ == "__main__":
    {"open": measure, "serve": serve}[sys.argv[1]](*sys.argv[2:])
