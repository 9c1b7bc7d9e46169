"""The socket that a server listens at."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

from mptcplab.server.serving import listening


def test_an_answer_does_not_wait_for_the_acknowledgement_of_its_head() -> None:
    async def accepted(listener: socket.socket) -> int:
        option: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def begun(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            own = writer.get_extra_info("socket")
            option.set_result(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(begun, sock=listener):
            with socket.create_connection(listener.getsockname()):
                return await option

    # A thread of its own: the tests of pages leave a loop running in theirs.
    with listening("127.0.0.1", 0, 50) as listener, ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(accepted(listener))).result() == 1
