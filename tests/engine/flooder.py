"""A controller of OpenFlow 1.3 that lets every switch flood: `flooder.py [PORT] [OPTION...]`.

With `--deaf` it ignores SIGTERM; with `--leave` it leaves a process behind that has a session of
its own; with `--end` it ends with status 3 after some seconds; with `--daemon` it ends with status
0 and leaves the process that serves switches in its process group.
"""

import os
import signal
import socket
import struct
import sys
import threading
import time

HELLO, ECHO_REQUEST, ECHO_REPLY, FLOW_MOD = 0, 2, 3, 14
ANY, NO_BUFFER, FLOOD, WHOLE = 0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFB, 0xFFFF


def message(kind: int, body: bytes, xid: int = 1) -> bytes:
    return struct.pack("!BBHI", 4, kind, 8 + len(body), xid) + body


def flood() -> bytes:
    """Adds an entry of the lowest priority that matches everything (sections 7.2.4 and 7.3.4.1)."""
    add = struct.pack("!QQBBHHHIIIH2x", 0, 0, 0, 0, 0, 0, 0, NO_BUFFER, ANY, ANY, 0)
    match = struct.pack("!HH4x", 1, 4)
    output = struct.pack("!HHIH6x", 0, 16, FLOOD, WHOLE)
    apply_actions = struct.pack("!HH4x", 4, 8 + len(output)) + output
    return message(FLOW_MOD, add + match + apply_actions)


def serve(peer: socket.socket) -> None:
    peer.sendall(message(HELLO, b"") + flood())
    while header := peer.recv(8, socket.MSG_WAITALL):
        _, kind, length, xid = struct.unpack("!BBHI", header)
        body = peer.recv(length - 8, socket.MSG_WAITALL) if length > 8 else b""
        if kind == ECHO_REQUEST:
            peer.sendall(message(ECHO_REPLY, body, xid))
    print("a switch has gone", flush=True)


def main() -> None:
    options = sys.argv[1:]
    if "--deaf" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "--leave" in options and os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if "--daemon" in options and os.fork() != 0:
        sys.exit()
    if "--end" in options:
        threading.Timer(2.5, lambda: os._exit(3)).start()
    port = next((int(option) for option in options if option.isdecimal()), 6653)
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    print("listening", flush=True)
    while True:
        peer, _ = listener.accept()
        print("a switch has come", flush=True)
        threading.Thread(target=serve, args=(peer,), daemon=True).start()


if __name__ == "__main__":
    main()
