"""How it ends when something goes wrong: the reason on stderr, the right status, nothing lost."""

import fcntl
import json
import random
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path
from typing import IO

import pytest
from tests.engine.launch import wait_for
from tests.netcat.programs import Netcat, Stream, everything, free_port, listener, port_of

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: close(2) sends a reset."""


def connected(
    server: socket.socket,
    home: Path,
    *,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = subprocess.PIPE,
) -> tuple[Netcat, socket.socket]:
    """A client of `server`, and the other end of its connection."""
    client = Netcat(["--tcp", "127.0.0.1", port_of(server)], home, stdin=stdin, stdout=stdout)
    client.wait_for("connected to")
    return client, server.accept()[0]


def test_a_reset_ends_with_its_reason_after_all_that_was_received(tmp_path: Path) -> None:
    with listener() as server:
        client, peer = connected(server, tmp_path, stdin=subprocess.PIPE)
        with peer:
            peer.sendall(b"first")
            assert client.process.stdout is not None
            assert client.process.stdout.read(5) == b"first"
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        client.process.wait(60)
        status, _, told = client.end()
        assert status == 1
        assert "connection reset by peer" in told


def test_a_peer_that_goes_while_it_is_sent_to_is_told(tmp_path: Path) -> None:
    with listener() as server:
        client, peer = connected(server, tmp_path, stdin=subprocess.PIPE)
        with peer:
            peer.sendall(b"enough")
            peer.shutdown(socket.SHUT_WR)
        status, out, told = client.end(random.Random(1).randbytes(30_000_000))
        assert (status, out) == (1, b"enough")
        assert "connection reset" in told or "broken pipe" in told


@pytest.mark.parametrize("protocol", ["--tcp", "-v"])
def test_a_killed_netcat_ends_the_other(protocol: str, tmp_path: Path) -> None:
    port = free_port()
    server = Netcat([protocol, "-l", port], tmp_path, stdout=subprocess.PIPE).listening()
    client = Netcat([protocol, "127.0.0.1", port], tmp_path, stdin=subprocess.PIPE)
    server.wait_for("connection from")
    # Something must be left unread: the kernel of a peer that has read everything acts as if
    # that had closed, and takes data for another minute.
    server.process.send_signal(signal.SIGSTOP)
    assert client.process.stdin is not None
    client.process.stdin.write(bytes(1_000_000))
    wait_for("the client to take it", lambda: waiting(client.process.stdin) == 0)
    server.process.kill()
    server.end()
    status, _, told = client.end(bytes(20_000_000))
    assert status == 1, told
    assert "127.0.0.1 port" in told


def test_a_closed_standard_output_is_an_error(tmp_path: Path) -> None:
    with listener() as server:
        client, peer = connected(server, tmp_path)
        assert client.process.stdout is not None
        client.process.stdout.close()
        client.process.stdout = None
        with peer:
            peer.sendall(b"for nobody")
            status, _, told = client.end()
        assert status == 1
        assert "standard output: broken pipe" in told


@pytest.mark.parametrize("words", [["127.0.0.1"], ["-l"], ["--tcp", "-l"]])
@pytest.mark.parametrize(("number", "name"), [(0, "input"), (1, "output")])
def test_a_standard_stream_closed_from_the_start_is_an_error(
    number: int, name: str, words: list[object], tmp_path: Path
) -> None:
    close = ["sh", "-c", f'exec "$@" {"<>"[number]}&-', "sh"]
    status, out, told = Netcat([*words, free_port()], tmp_path, prefix=close).end()
    assert (status, out) == (1, b"")
    assert f"nc: standard {name} is closed" in told


def test_a_full_disk_behind_standard_output_is_an_error(tmp_path: Path) -> None:
    with listener() as server, Path("/dev/full").open("wb") as full:
        client, peer = connected(server, tmp_path, stdout=full)
        with peer:
            peer.sendall(b"too much")
            status, _, told = client.end()
        assert status == 1
        assert "standard output: no space left on device" in told


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_after_what_was_received_is_written(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    content = random.Random(4).randbytes(400_000)
    with listener() as server:
        client, peer = connected(server, tmp_path)
        with peer:
            peer.sendall(content)
            # All of it is with the client: in its pipe, or in its socket.
            wait_for("the acknowledgement", lambda: unsent(peer) == 0)
            client.process.send_signal(number)
            ended, out, told = client.end()
        assert (ended, out) == (status, content)
        assert "0 bytes sent, 400000 received" in told
        assert f"ended by {number.name}" in told


def test_a_second_signal_does_not_wait_for_a_reader(tmp_path: Path) -> None:
    with listener() as server:
        client, peer = connected(server, tmp_path)
        with peer:
            peer.settimeout(0.5)
            with pytest.raises(TimeoutError):
                peer.sendall(bytes(200_000_000))
            client.process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                client.process.wait(0.5)
            client.process.send_signal(signal.SIGTERM)
            assert client.process.wait(60) == 143
            client.end()


def test_a_signal_ends_the_waiting_for_a_client(tmp_path: Path) -> None:
    server = Netcat(["-l", free_port()], tmp_path).listening()
    server.process.send_signal(signal.SIGINT)
    assert server.end()[0] == 130


def test_an_idle_connection_ends_well_when_all_has_arrived(tmp_path: Path) -> None:
    with listener() as server:
        words = ["--tcp", "-w", "0.3", "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path, stdin=subprocess.PIPE)
        with server.accept()[0] as peer:
            assert client.process.stdin is not None
            client.process.stdin.write(b"hello")
            client.process.stdin.flush()
            assert peer.recv(10) == b"hello"
            assert client.process.wait(60) == 0
        client.end()


@pytest.mark.parametrize("protocol", ["--tcp", "-v"])
def test_a_connection_over_which_nothing_went_ends_well(protocol: str, tmp_path: Path) -> None:
    # To a peer of TCP also where MPTCP was asked for.
    with listener() as server:
        words = [protocol, "-w", "0.3", "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path, stdin=subprocess.PIPE)
        with server.accept()[0]:
            assert client.process.wait(60) == 0
        client.end()


@pytest.mark.parametrize("flags", [[], ["-N"]])
def test_a_connection_is_not_idle_while_the_peer_acknowledges(
    flags: list[str], tmp_path: Path
) -> None:
    content = bytes(2_000_000)
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        server.bind(("127.0.0.1", 0))
        server.listen()
        words = ["--tcp", "-w", "1.5", *flags, "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path, stdin=subprocess.PIPE)
        feeding = threading.Thread(target=client.end, args=(content,))
        feeding.start()
        received = 0
        with server.accept()[0] as peer:
            # The kernel has taken all of it long before the end.
            while received < len(content):
                received += len(peer.recv(50_000))
                time.sleep(0.1)
            feeding.join()
    assert client.process.returncode == 0, client.told


def test_an_idle_connection_with_data_on_its_way_is_an_error(tmp_path: Path) -> None:
    with listener() as server:
        words = ["--tcp", "-w", "0.5", "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path, stdin=subprocess.PIPE)
        with server.accept()[0]:
            status, _, told = client.end(bytes(50_000_000))
        assert status == 1
        assert "nothing moved for 0.5 s" in told
        assert "bytes are not acknowledged" in told


def test_the_account_as_json(tmp_path: Path) -> None:
    with listener() as server:
        words = ["--tcp", "-N", "--json-file", "account", "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path, stdin=subprocess.PIPE)
        with server.accept()[0] as peer:
            peer.sendall(b"abc")
            peer.shutdown(socket.SHUT_WR)
            assert client.end(b"hello")[:2] == (0, b"abc")
            assert everything(peer) == b"hello"
    account = json.loads((tmp_path / "account").read_text())
    assert (account["bytes_sent"], account["bytes_received"]) == (5, 3)
    assert account["error"] is None


def unsent(connection: socket.socket) -> int:
    """Bytes that the peer has not acknowledged (SIOCOUTQ)."""
    return _count(connection, termios.TIOCOUTQ)


def waiting(pipe: IO[bytes] | None) -> int:
    """Bytes in a pipe (FIONREAD)."""
    assert pipe is not None
    return _count(pipe, termios.FIONREAD)


def _count(descriptor: socket.socket | IO[bytes], request: int) -> int:
    return int(struct.unpack("i", fcntl.ioctl(descriptor, request, bytes(4)))[0])
