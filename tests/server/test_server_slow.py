"""Clients that are slow or many, and still no stranger's fault or gain."""

from __future__ import annotations

import ssl
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from socket import create_connection

from tests.server.made import encoded
from tests.server.running import digest_of, started, tls

PATIENT = """
from mptcplab.server.web import checks, protocol
protocol.HANDSHAKE_S, protocol.HEAD_S, checks.BODY_S = 600, 600, 0.2
from mptcplab.cli import main
main()
"""


def test_an_address_has_few_connections_before_they_shake_hands(tmp_path: Path) -> None:
    with (
        started(tmp_path / "state", "--per-address", "1", code=PATIENT) as server,
        ExitStack() as stack,
    ):
        place = ("127.0.0.1", server.port)
        silent = [stack.enter_context(create_connection(place, timeout=120)) for _ in range(4)]
        for _ in range(20):
            with create_connection(place, timeout=60) as more:
                assert more.recv(1) == b""
        plain = create_connection(place, timeout=120, source_address=("127.0.0.2", 0))
        with tls().wrap_socket(plain) as other:
            assert other.version() == "TLSv1.3"
        silent[0].close()
        assert any(_shakes_hands(place) for _ in range(1_000))


def _shakes_hands(place: tuple[str, int]) -> bool:
    # A connection that ended is seen as closed a little later.
    time.sleep(0.02)
    try:
        with tls().wrap_socket(create_connection(place, timeout=120)) as again:
            return again.version() == "TLSv1.3"
    except (ssl.SSLError, OSError):
        return False


def test_a_shortage_of_descriptors_is_told_in_one_line(tmp_path: Path) -> None:
    with started(tmp_path / "state", code=PATIENT) as server, ExitStack() as stack:
        subprocess.run(["prlimit", "--pid", str(server.process.pid), "--nofile=30:"], check=True)
        place = ("127.0.0.1", server.port)
        many = [stack.enter_context(create_connection(place, timeout=120)) for _ in range(60)]
        while "ulimit -n" not in server.errors.read_text():
            time.sleep(0.05)
        for one in many:
            one.close()
        with tls().wrap_socket(create_connection(place, timeout=120)) as again:
            assert again.version() == "TLSv1.3"
        assert server.errors.read_text().count("\n") == 1


def test_a_large_body_has_the_time_of_a_slow_path(tmp_path: Path) -> None:
    with started(tmp_path / "state", code=PATIENT) as server:
        agent = server.enrolled()
        told = agent.result()
        # 500 kB may take a minute at the slowest speed that is taken.
        body = encoded(told).ljust(500_000)
        with server.socket() as connection:
            connection.sendall(
                f"PUT /api/v1/agent/results/{told['id']} HTTP/1.1\r\nHost: x\r\n"
                f"Mptcplab-Protocol: 1\r\nAuthorization: Bearer {agent.secret}\r\n"
                f"Content-Digest: {digest_of(body)}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            )
            connection.sendall(body[:100_000])
            connection.settimeout(1)
            try:
                early = connection.recv(12)
            except TimeoutError:
                early = b""
            assert early == b""
            connection.settimeout(120)
            connection.sendall(body[100_000:])
            assert connection.recv(12) == b"HTTP/1.1 201"
