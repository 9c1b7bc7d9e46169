"""The socket that a server listens at."""

from __future__ import annotations

import asyncio
import socket

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

    with listening("127.0.0.1", 0, 50) as listener:
        assert asyncio.run(accepted(listener)) == 1
