"""Options that users of netcat know: -k, -z, -u, -4, -6, -s, -p, and mistakes."""

import signal
import socket
import subprocess
from pathlib import Path

import pytest
from tests.engine.system import needs_mptcp
from tests.netcat.programs import Netcat, everything, free_port, listener, port_of


def test_clients_in_turn(tmp_path: Path) -> None:
    port = free_port()
    server = Netcat(["-k", "-l", port], tmp_path).listening()
    for text in (b"one ", b"two ", b"three"):
        client = Netcat(["-N", "127.0.0.1", port], tmp_path, stdin=subprocess.PIPE)
        assert client.end(text)[0] == 0
    server.process.send_signal(signal.SIGTERM)
    assert server.end()[:2] == (143, b"one two three")


def test_a_client_that_fails_does_not_end_a_server_that_keeps_listening(tmp_path: Path) -> None:
    port = free_port()
    server = Netcat(["--tcp", "-k", "-l", port], tmp_path).listening()
    with socket.create_connection(("127.0.0.1", port)) as peer:
        linger = b"\1\0\0\0\0\0\0\0"
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    server.wait_for("connection reset by peer")
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.sendall(b"hello")
    server.wait_for("5 received")
    server.process.send_signal(signal.SIGINT)
    assert server.end()[:2] == (130, b"hello")


def test_a_second_client_is_refused_without_keep(tmp_path: Path) -> None:
    port = free_port()
    server = Netcat(["--tcp", "-l", port], tmp_path).listening()
    with socket.create_connection(("127.0.0.1", port)):
        server.wait_for("connection from")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
    assert server.end()[0] == 0


def test_the_words_that_everybody_types_are_taken(tmp_path: Path) -> None:
    port = free_port()
    server = Netcat(["-lvnp", port, "-s", "127.0.0.1"], tmp_path).listening()
    assert server.told == [f"nc: listening on 127.0.0.1 port {port} (mptcp)"]
    status, _, told = Netcat(["-nvz", "-w1", "127.0.0.1", port], tmp_path).end()
    assert status == 0
    assert f"127.0.0.1 port {port} (mptcp) is open" in told
    assert server.end()[0] == 0


def test_after_the_end_of_input_it_goes_on_as_long_as_it_is_told(tmp_path: Path) -> None:
    with listener() as server:
        words = ["--tcp", "-q", "1", "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path, stdin=subprocess.PIPE)
        with server.accept()[0] as peer:
            assert client.process.stdin is not None
            client.process.stdin.close()
            client.process.stdin = None
            # It was told of the end, and its answer is still taken.
            assert everything(peer) == b""
            peer.sendall(b"answer")
            assert client.end()[:2] == (0, b"answer")


def test_a_datagram_and_no_more(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        words = ["-u", "-q", "0", "127.0.0.1", port_of(server)]
        assert Netcat(words, tmp_path, stdin=subprocess.PIPE).end(b"hello")[0] == 0
        assert server.recv(100) == b"hello"


@pytest.mark.parametrize("flags", [["--tcp"], ["-u", "-w", "1"]])
def test_standard_input_is_left_alone(flags: list[str], tmp_path: Path) -> None:
    kind = socket.SOCK_DGRAM if "-u" in flags else socket.SOCK_STREAM
    (tmp_path / "input").write_bytes(b"not to be sent")
    with socket.socket(socket.AF_INET, kind) as server, (tmp_path / "input").open("rb") as source:
        server.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            server.listen()
        words = [*flags, "-d", "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path, stdin=source)
        if kind == socket.SOCK_STREAM:
            with server.accept()[0] as peer:
                peer.sendall(b"hello")
                peer.shutdown(socket.SHUT_WR)
                assert everything(peer) == b""
            assert client.end()[:2] == (0, b"hello")
        else:
            assert client.end()[0] == 0
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.recv(100)
        assert source.tell() == 0


def test_a_scan_names_the_open_ports(tmp_path: Path) -> None:
    with listener() as server:
        port = port_of(server)
        status, out, told = Netcat(["-z", "127.0.0.1", f"{port}-{port}", 1], tmp_path).end()
    assert (status, out) == (0, b"")
    assert f"nc: 127.0.0.1 port {port} (mptcp) is open" in told
    assert "port 1 (mptcp): connection refused" in told


def test_a_scan_without_an_open_port_fails(tmp_path: Path) -> None:
    port = free_port()
    status, _, told = Netcat(["-z", "--tcp", "127.0.0.1", port], tmp_path).end()
    assert (status, told) == (1, f"nc: connect to 127.0.0.1 port {port} (tcp): connection refused")


def test_datagrams_both_ways(tmp_path: Path) -> None:
    port = free_port()
    server = Netcat(["-u", "-l", port], tmp_path, stdin=subprocess.PIPE).listening()
    words = ["-u", "-w", "1", "127.0.0.1", port]
    client = Netcat(words, tmp_path, stdin=subprocess.PIPE)
    assert client.process.stdin is not None
    client.process.stdin.write(b"question")
    client.process.stdin.flush()
    server.wait_for("datagram from 127.0.0.1")
    assert server.process.stdin is not None
    server.process.stdin.write(b"answer")
    server.process.stdin.flush()
    assert client.end()[:2] == (0, b"answer")
    server.process.send_signal(signal.SIGTERM)
    assert server.end()[:2] == (143, b"question")


def test_a_refused_datagram_is_an_error(tmp_path: Path) -> None:
    client = Netcat(["-u", "127.0.0.1", free_port()], tmp_path, stdin=subprocess.PIPE)
    status, _, told = client.end(b"anybody?")
    assert status == 1
    assert "connection refused" in told


def test_a_scan_of_datagrams(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        status, _, told = Netcat(["-uz", "127.0.0.1", port_of(server), 1], tmp_path).end()
    assert status == 0
    assert "(udp) is open" in told
    assert "127.0.0.1 port 1: connection refused" in told


def test_ipv6(tmp_path: Path) -> None:
    try:
        port = free_port(socket.AF_INET6)
    except OSError as error:
        pytest.skip(f"no IPv6: {error}")
    server = Netcat(["-6", "-l", port], tmp_path).listening()
    client = Netcat(["-N", "::1", port], tmp_path, stdin=subprocess.PIPE)
    assert client.end(b"over IPv6")[0] == 0
    assert server.end()[:2] == (0, b"over IPv6")
    status, _, told = Netcat(["-6", "127.0.0.1", port], tmp_path).end()
    assert status == 1
    assert "no address of the family" in told


def test_a_listener_of_both_families_takes_both(tmp_path: Path) -> None:
    port = free_port()
    server = Netcat(["-k", "-l", port], tmp_path).listening()
    for address in ("127.0.0.1", "::1"):
        client = Netcat(["-N", address, port], tmp_path, stdin=subprocess.PIPE)
        assert client.end(address.encode())[0] == 0
    server.process.send_signal(signal.SIGTERM)
    status, out, told = server.end()
    assert (status, out) == (143, b"127.0.0.1::1")
    assert "connection from 127.0.0.1 port" in told


def test_the_address_and_port_to_connect_from(tmp_path: Path) -> None:
    own = free_port()
    with listener() as server:
        words = ["--tcp", "-s", "127.0.0.2", "-p", own, "127.0.0.1", port_of(server)]
        client = Netcat(words, tmp_path)
        peer, address = server.accept()
        peer.close()
        assert client.end()[0] == 0
    assert address == ("127.0.0.2", own)


@needs_mptcp
def test_where_mptcp_is_switched_off_it_speaks_tcp_and_says_so(tmp_path: Path) -> None:
    inside = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c"]
    switch = 'ip link set lo up && echo 0 > /proc/sys/net/mptcp/enabled && exec "$@"'
    server = Netcat(["-l", 5001], tmp_path, prefix=[*inside, switch, "sh"])
    told = server.wait_for("plain TCP")
    assert told == "nc: this kernel has no MPTCP, or net.mptcp.enabled is 0: plain TCP"
    server.wait_for("port 5001 (tcp)")
    server.process.send_signal(signal.SIGTERM)
    assert server.end()[0] == 143


@needs_mptcp
def test_mptcp_is_what_it_speaks(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client = Netcat(["-N", "127.0.0.1", port_of(server)], tmp_path)
        with server.accept()[0] as peer:
            everything(peer)
            # MPTCP_INFO fails with EOPNOTSUPP where the connection is TCP.
            assert peer.getsockopt(284, 1, 64)
        assert client.end()[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "write nc HOST PORT"),
        (["localhost"], "write nc HOST PORT"),
        (["-l"], "write nc -l PORT"),
        (["-l", "a", "b", "c"], "write nc -l PORT"),
        (["localhost", "0"], "port 0: a number from 1 to 65535"),
        (["localhost", "65536"], "port 65536"),
        (["localhost", "nonsense!"], "port nonsense!"),
        (["localhost", "1-3"], "3 ports: only -z takes more than one"),
        (["-z", "localhost", "9-3"], "write the smaller one first"),
        (["-46", "localhost", "1"], "-4 and -6"),
        (["-u", "--tcp", "localhost", "1"], "--tcp and -u"),
        (["-k", "localhost", "1"], "-k: it needs -l"),
        (["-lz", "1"], "-l and -z"),
        (["-w", "0", "localhost", "1"], "-w 0"),
        (["-w", "nan", "localhost", "1"], "-w nan"),
        (["-q", "nan", "localhost", "1"], "-q nan: seconds, or -1 for no end"),
        (["-n", "localhost", "1"], "-n, and the host is a name: an address is wanted"),
        (["-l", "-s", "127.0.0.1", "localhost", "1"], "write nc -l PORT"),
        (["-s", "here", "localhost", "1"], "-s here: an address is wanted"),
        (["-s", "198.51.100.7", "127.0.0.1", "1"], "cannot assign requested address"),
        (["--json-file", "no/such", "127.0.0.1", "1"], "--json-file: no/such: no such file"),
        (["host.invalid", "1"], "host.invalid: "),
    ],
)
def test_a_mistake_is_named(words: list[str], said: str, tmp_path: Path) -> None:
    status, out, told = Netcat(words, tmp_path).end()
    assert (status, out) == (1, b"")
    assert said in told
    assert "Traceback" not in told
