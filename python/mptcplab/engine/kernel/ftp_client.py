"""An FTP client for the lab's hosts: stores or retrieves a file a number of times.

The lab process starts it with one argument, a JSON object, and reads the lines that it prints.
"""

import contextlib
import ftplib
import json
import socket
import sys
from time import monotonic_ns

from mptcplab.engine.kernel.ftp_content import BLOCK_BYTES, PASSWORD, USER, Content, Receiver, tell

SOL_MPTCP = 284
MPTCP_INFO = 1
MPTCP_INFO_BYTES = 128


def run(
    host: str,
    port: int,
    source: str | None,
    way: str,
    bytes: int,  # noqa: A002 - the name in the plan
    count: int,
    seed: int,
) -> None:
    """Log in and transfer the files one after the other."""
    index = 0
    tell("start", index=index, t_ns=monotonic_ns())
    try:
        with ftplib.FTP() as ftp:
            ftp.connect(host, port, source_address=(source, 0) if source else None)
            ftp.login(USER, PASSWORD)
            ftp.voidcmd("TYPE I")
            for index in range(count):
                info = transfer(ftp, index, source, way, bytes, Content(seed + index))
                tell("end", index=index, mptcp_info=info, error=None)
    except (OSError, EOFError, ftplib.Error) as failure:
        tell("end", index=index, mptcp_info=None, error=f"FTP: {failure}")


def transfer(
    ftp: ftplib.FTP, index: int, source: str | None, way: str, size: int, content: Content
) -> str | None:
    """Transfer one file over a data connection of its own; return its MPTCP_INFO."""
    target = ftp.makepasv()
    tell("start", index=index, t_ns=monotonic_ns())
    with socket.create_connection(target, source_address=(source, 0) if source else None) as data:
        connected = monotonic_ns()
        ends = {"source": data.getsockname(), "target": data.getpeername()}
        names = {end: _name(*address[:2]) for end, address in ends.items()}
        tell("connected", index=index, t_ns=connected, **names)
        name = f"{index}-{size}"
        if way == "up":
            ftp.sendcmd(f"STOR {name}")
            send(data, content, size)
            data.shutdown(socket.SHUT_WR)
        else:
            ftp.sendcmd(f"RETR {name}")
            receiver = Receiver(index, content)
            while part := data.recv(BLOCK_BYTES):
                receiver.take(part)
            receiver.finish()
        info = mptcp_info(data)
    ftp.voidresp()
    return info


def send(data: socket.socket, content: Content, size: int) -> None:
    """Send the whole content."""
    offset = 0
    while offset < size:
        part = content.part(offset, size - offset)
        data.sendall(part)
        offset += len(part)


def mptcp_info(data: socket.socket) -> str | None:
    """Read the kernel's MPTCP_INFO in hexadecimal; nothing of a TCP connection."""
    with contextlib.suppress(OSError):
        return data.getsockopt(SOL_MPTCP, MPTCP_INFO, MPTCP_INFO_BYTES).hex()
    return None


def _name(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


if __name__ == "__main__":
    run(**json.loads(sys.argv[1]))
