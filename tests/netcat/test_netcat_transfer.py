"""Bytes that go in at one end come out at the other, by every way of copying."""

import os
import random
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from tests.engine.system import mptcp_missing
from tests.netcat.programs import Netcat, digest, everything, free_port, listener, port_of

LARGE = 100_000_000
PROTOCOLS = [
    pytest.param(
        "mptcp",
        marks=pytest.mark.skipif(mptcp_missing() is not None, reason=str(mptcp_missing())),
    ),
    "tcp",
]


def flags(protocol: str) -> list[str]:
    return ["--tcp"] if protocol == "tcp" else []


@pytest.fixture(scope="module")
def contents() -> tuple[bytes, bytes]:
    """One for each direction."""
    generator = random.Random(1)
    return generator.randbytes(LARGE), generator.randbytes(LARGE - 12_345)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("way", ["pipe", "file", "appended", "socket"])
def test_both_directions_at_once_are_exact(
    protocol: str, way: str, contents: tuple[bytes, bytes], tmp_path: Path
) -> None:
    port = free_port()
    ends = [End(way, content, tmp_path / str(n)) for n, content in enumerate(contents)]
    server = ends[0].start(["-N", *flags(protocol), "-l", port], tmp_path).listening()
    client = ends[1].start(["-N", *flags(protocol), "127.0.0.1", port], tmp_path)
    for end in ends:
        end.feed()
    for end, other, netcat in zip(ends, reversed(ends), (server, client), strict=True):
        got = end.taken()
        status, _, told = netcat.end()
        assert (status, len(got)) == (0, len(other.content)), told
        assert digest(got) == digest(other.content)
        sent, received = len(end.content), len(other.content)
        assert f"{sent} bytes sent, {received} received" in told


class End:
    """Standard input and output of one netcat, of the given kind."""

    def __init__(self, way: str, content: bytes, stem: Path) -> None:
        self.way, self.content = way, content
        self.source, self.sink = stem.with_suffix(".in"), stem.with_suffix(".out")
        self.result = b""
        self.threads: list[threading.Thread] = []
        self.near, self.far = socket.socketpair()

    def start(self, words: list[object], home: Path) -> Netcat:
        if self.way == "pipe":
            return self._keep(Netcat(words, home, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        if self.way == "socket":
            netcat = Netcat(words, home, stdin=self.far.fileno(), stdout=self.far.fileno())
            self.far.close()
            return self._keep(netcat)
        self.source.write_bytes(self.content)
        mode = "ab" if self.way == "appended" else "wb"
        with self.source.open("rb") as source, self.sink.open(mode) as sink:
            return self._keep(Netcat(words, home, stdin=source, stdout=sink))

    def _keep(self, netcat: Netcat) -> Netcat:
        self.netcat = netcat
        return netcat

    def feed(self) -> None:
        if self.way == "pipe":
            self.threads = [
                threading.Thread(target=self._write),
                threading.Thread(target=self._read),
            ]
        elif self.way == "socket":
            self.threads = [
                threading.Thread(target=self._send),
                threading.Thread(target=self._recv),
            ]
        for thread in self.threads:
            thread.start()

    def _write(self) -> None:
        assert self.netcat.process.stdin is not None
        self.netcat.process.stdin.write(self.content)
        self.netcat.process.stdin.close()
        self.netcat.process.stdin = None

    def _read(self) -> None:
        assert self.netcat.process.stdout is not None
        self.result = self.netcat.process.stdout.read()

    def _send(self) -> None:
        self.near.sendall(self.content)
        self.near.shutdown(socket.SHUT_WR)

    def _recv(self) -> None:
        self.result = everything(self.near)

    def taken(self) -> bytes:
        if self.way in ("pipe", "socket"):
            for thread in self.threads:
                thread.join()
            self.near.close()
            return self.result
        self.netcat.process.wait(60)
        return self.sink.read_bytes()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_slow_reader_loses_nothing(protocol: str, tmp_path: Path) -> None:
    content = random.Random(2).randbytes(3_000_000)
    port = free_port()
    server = Netcat([*flags(protocol), "-l", port], tmp_path).listening()
    client = Netcat(["-N", *flags(protocol), "127.0.0.1", port], tmp_path, stdin=subprocess.PIPE)
    feeding = threading.Thread(target=client.end, args=(content,))
    feeding.start()
    assert server.process.stdout is not None
    parts = []
    while part := os.read(server.process.stdout.fileno(), 1000):
        parts.append(part)
    feeding.join()
    assert server.end()[0] == client.process.returncode == 0
    assert digest(b"".join(parts)) == digest(content)


def test_what_a_file_held_already_stays_when_it_is_appended_to(tmp_path: Path) -> None:
    sink = tmp_path / "log"
    sink.write_bytes(b"before ")
    with listener() as server, sink.open("ab") as output:
        client = Netcat(["--tcp", "127.0.0.1", port_of(server)], tmp_path, stdout=output)
        with server.accept()[0] as peer:
            peer.sendall(b"after")
        assert client.end()[0] == 0
    assert sink.read_bytes() == b"before after"


def test_a_file_that_cannot_be_spliced_is_read(tmp_path: Path) -> None:
    # Files of /proc can be read only.
    with listener() as server, Path("/proc/self/status").open("rb") as source:
        client = Netcat(["--tcp", "-N", "127.0.0.1", port_of(server)], tmp_path, stdin=source)
        with server.accept()[0] as peer:
            got = everything(peer)
        assert client.end()[0] == 0
    assert got.startswith(b"Name:")


def test_a_file_that_cannot_be_spliced_into_is_written(tmp_path: Path) -> None:
    # Files of /proc can be written only.
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process, listener() as server:
        score = Path(f"/proc/{process.pid}/oom_score_adj")
        with score.open("wb") as sink:
            client = Netcat(["--tcp", "127.0.0.1", port_of(server)], tmp_path, stdout=sink)
        with server.accept()[0] as peer:
            peer.sendall(b"987")
        assert client.end()[0] == 0, client.told
        assert score.read_text() == "987\n"


def test_at_the_end_of_input_the_answer_is_waited_for(tmp_path: Path) -> None:
    with listener() as server:
        client = Netcat(
            ["--tcp", "-N", "127.0.0.1", port_of(server)], tmp_path, stdin=subprocess.PIPE
        )
        assert client.process.stdin is not None
        client.process.stdin.write(b"question")
        client.process.stdin.close()
        client.process.stdin = None
        with server.accept()[0] as peer:
            assert everything(peer) == b"question"
            peer.sendall(b"answer")
        assert client.end()[:2] == (0, b"answer")


def test_without_half_close_the_peer_is_not_told_of_the_end_of_input(tmp_path: Path) -> None:
    with listener() as server:
        client = Netcat(["--tcp", "127.0.0.1", port_of(server)], tmp_path)
        with server.accept()[0] as peer:
            peer.settimeout(0.3)
            with pytest.raises(TimeoutError):
                peer.recv(1)
            peer.settimeout(None)
            peer.shutdown(socket.SHUT_WR)
            assert everything(peer) == b""
        assert client.end()[0] == 0


def test_a_server_sends_its_whole_file_to_a_client_that_has_ended_its_own(tmp_path: Path) -> None:
    content = random.Random(3).randbytes(20_000_000)
    (tmp_path / "file").write_bytes(content)
    port = free_port()
    with (tmp_path / "file").open("rb") as source:
        server = Netcat(["-l", port], tmp_path, stdin=source).listening()
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.shutdown(socket.SHUT_WR)
        got = everything(peer)
    assert server.end()[0] == 0
    assert digest(got) == digest(content)
