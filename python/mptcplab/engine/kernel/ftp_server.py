"""An FTP server for the lab's hosts: files that a seed gives, held nowhere.

The lab process starts it with one argument, a JSON object, and reads the lines that it prints.
A file is called `INDEX-BYTES`. What is stored is compared with the file's content and accounted
for; what is retrieved is made on the way.
"""

import json
import sys
from typing import Any

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.filesystems import AbstractedFS
from pyftpdlib.handlers import DTPHandler, FTPHandler
from pyftpdlib.servers import FTPServer

from mptcplab.engine.kernel.ftp_content import BLOCK_BYTES, PASSWORD, USER, Content, Receiver


class GeneratedFile:
    """A file of the content, as the server's file object."""

    closed = False

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        index, _, size = name.rpartition("/")[2].partition("-")
        self._left = int(size)
        self._content = Content(seed + int(index))
        self._offset = 0
        self._receiver = Receiver(int(index), self._content)

    def read(self, size: int) -> bytes:
        """Give the next part of the content."""
        part = self._content.part(self._offset, min(size, self._left))
        self._offset += len(part)
        self._left -= len(part)
        return part

    def write(self, data: bytes) -> None:
        """Account for a part that the client stores."""
        self._receiver.take(data)

    def close(self) -> None:
        """Tell what was stored."""
        if not self.closed:
            self.closed = True
            self._receiver.finish()


def serve(ipv6: bool, port: int, seed: int) -> None:
    """Serve until the process is ended."""

    class Files(AbstractedFS):  # type: ignore[misc]  # pyftpdlib has no types
        """Every file exists, and is generated."""

        def open(self, filename: str, mode: str) -> GeneratedFile:
            """Give the file of a name."""
            del mode
            return GeneratedFile(filename, seed)

        def isfile(self, path: str) -> bool:
            """Say that it is a file."""
            del path
            return True

        def lexists(self, path: str) -> bool:
            """Say that it is there."""
            del path
            return True

    class Data(DTPHandler):  # type: ignore[misc]
        """A data connection that takes what the kernel has, in blocks as the client's."""

        ac_in_buffer_size = BLOCK_BYTES
        ac_out_buffer_size = BLOCK_BYTES

    class Passive(FTPHandler.passive_dtp):  # type: ignore[misc]
        """A listener for data, on every address and until the next one, or no subflow could join.

        Linux takes a join only where a socket listens on the port, while pyftpdlib closes its
        listener after the first connection.
        """

        def bind(self, address: tuple[str, int]) -> None:
            """Listen on the port, whatever the address."""
            super().bind(("::" if ":" in address[0] else "0.0.0.0", address[1]))

        def listen(self, backlog: int) -> None:
            """Keep a second descriptor of the listener."""
            super().listen(backlog)
            self.cmd_channel.listener = self.socket.dup()

    class Handler(FTPHandler):  # type: ignore[misc]
        """A control connection."""

        abstracted_fs = Files
        dtp_handler = Data
        passive_dtp = Passive
        use_sendfile = False
        authorizer: Any = DummyAuthorizer()

    Handler.authorizer.add_user(USER, PASSWORD, "/", perm="rw")
    with FTPServer(("::" if ipv6 else "0.0.0.0", port), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    serve(**json.loads(sys.argv[1]))
