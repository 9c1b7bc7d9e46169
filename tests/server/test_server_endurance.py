"""A server that is killed, has no room, or has clients that are slow on purpose."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.server.made import encoded
from tests.server.running import Agent, Running, asked, digest_of, run, started


def test_a_server_that_is_killed_loses_nothing_that_it_acknowledged(
    start: Callable[..., Running],
) -> None:
    server = start()
    agents = [server.enrolled() for _ in range(4)]
    made = [[agent.result() for _ in range(40)] for agent in agents]
    acknowledged: dict[str, bytes] = {}
    enough = threading.Event()

    def send(agent: Agent, told: list[dict[str, Any]]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        try:
            connection.sock = server.socket()
            for one in told:
                if _put(connection, agent, one) == 201:
                    acknowledged[one["id"]] = encoded(one)
                if len(acknowledged) >= 40:
                    enough.set()
        except (OSError, http.client.HTTPException):
            # It is gone.
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=pair) for pair in zip(agents, made, strict=True)]
    for thread in threads:
        thread.start()
    assert enough.wait(120)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    for thread in threads:
        thread.join()
    assert 40 <= len(acknowledged) < 160
    again = start()
    for own, body in acknowledged.items():
        assert again.get(f"/api/v1/results/{own}").body == body
    for agent, told in zip(agents, made, strict=True):
        agent.server = again
        for one in told:
            status = agent.put(one).status
            # Some that were not acknowledged may have reached the disk.
            assert status == 200 if one["id"] in acknowledged else status in (200, 201)
        assert again.get(f"/api/v1/agents/{agent.id}").json["gaps"] == []


def _put(connection: http.client.HTTPConnection, agent: Agent, told: dict[str, Any]) -> int:
    body = encoded(told)
    answer = asked(
        connection, "PUT", f"/api/v1/agent/results/{told['id']}", body, agent.secret,
        {"Content-Digest": digest_of(body)},
    )  # fmt: skip
    return answer.status


def test_a_full_disk_is_told_and_takes_nothing_away(start: Callable[..., Running]) -> None:
    server = start()
    agent = server.enrolled()
    kept = agent.result()
    assert agent.put(kept).status == 201
    subprocess.run(
        ["prlimit", "--pid", str(server.process.pid), f"--fsize={_largest(server) + 40_000}"],
        check=True,
    )
    sent = []
    while True:
        one = agent.result()
        answer = agent.put(one)
        if answer.status != 201:
            break
        sent.append(one)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert server.get(f"/api/v1/results/{kept['id']}").body == encoded(kept)
    server.end()
    again = start()
    for told in (kept, *sent):
        assert again.get(f"/api/v1/results/{told['id']}").body == encoded(told)
    agent.server = again
    assert agent.put(one).status == 201


def _largest(server: Running) -> int:
    return max(file.stat().st_size for file in server.state.glob("server.db*"))


IMPATIENT = """
from mptcplab.server.web import checks, protocol
protocol.HANDSHAKE_S = protocol.HEAD_S = {head_s}
protocol.KEEP_ALIVE_S, checks.BODY_S = 0, 0.5
from mptcplab.cli import main
main()
"""


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One that waits for a second, for all but bodies."""
    state = tmp_path_factory.mktemp("impatient") / "state"
    with started(state, code=IMPATIENT.format(head_s=1)) as server:
        yield server


def until_cut_off(connection: socket.socket) -> bytes:
    """All that comes until the other end has had enough."""
    received = b""
    try:
        while part := connection.recv(4096):
            received += part
    except TimeoutError:
        raise AssertionError("it was never cut off") from None
    except OSError:
        pass
    return received


HEAD = b"GET /health HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"\r\n" + HEAD])
def test_a_client_that_never_ends_its_head_is_cut_off(impatient: Running, sent: bytes) -> None:
    with suppress(ConnectionError, ssl.SSLError), impatient.socket() as connection:
        connection.sendall(sent)
        until_cut_off(connection)


def test_a_client_that_never_shakes_hands_is_cut_off(impatient: Running) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=120) as connection:
        assert until_cut_off(connection) == b""


def test_a_body_that_trickles_after_its_answer_is_cut_off(impatient: Running) -> None:
    with suppress(ConnectionError, ssl.SSLError), impatient.socket() as connection:
        connection.sendall(
            b"POST /api/v1/enrol HTTP/1.1\r\nHost: x\r\nMptcplab-Protocol: 1\r\n"
            b"Content-Length: 100000\r\n\r\n"
        )
        assert connection.recv(12) in (b"HTTP/1.1 401", b"")
        connection.settimeout(0.1)
        for _ in range(1_200):
            with suppress(TimeoutError):
                connection.sendall(b"x")
                if not connection.recv(4096):
                    return
        raise AssertionError("it was never cut off")


def test_a_body_that_comes_too_slowly_is_refused(tmp_path: Path) -> None:
    with started(tmp_path / "state", code=IMPATIENT.format(head_s=60)) as server:
        agent = server.enrolled()
        with server.socket() as connection:
            connection.sendall(
                f"PUT /api/v1/agent/results/{agent.result()['id']} HTTP/1.1\r\nHost: x\r\n"
                f"Mptcplab-Protocol: 1\r\nAuthorization: Bearer {agent.secret}\r\n"
                f"Content-Length: 1000\r\n\r\n{{".encode()
            )
            assert until_cut_off(connection).startswith(b"HTTP/1.1 408 ")


def test_an_address_may_make_so_many_requests(tmp_path: Path) -> None:
    with (
        started(tmp_path / "state", "--per-address", "1") as server,
        server.socket() as connection,
    ):
        # At once: a slow machine must not give it time.
        connection.sendall((HEAD + b"\r\n") * 49 + HEAD + b"Connection: close\r\n\r\n")
        received = until_cut_off(connection)
    statuses = re.findall(rb"HTTP/1\.1 ([0-9]{3})", received)
    assert statuses[:4] == [b"200"] * 4
    assert set(statuses) == {b"200", b"429"}
    assert b"retry-after: 1\r\n" in received


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well(start: Callable[..., Running], number: signal.Signals) -> None:
    server = start()
    with server.socket():
        assert server.end(number) == 0
    assert server.errors.read_text() == ""
    assert "another server" not in run("agents", "--state", str(server.state))
