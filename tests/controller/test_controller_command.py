"""`mptcplab controller`: options, output and end."""

from __future__ import annotations

import json
import re
import signal
import socket
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.controller.running import PATIENCE_S, refused, running

_HELLO, _VERSION = 0, 4


def connect(first_line: str) -> socket.socket:
    """A connection to the controller whose first line of output this is."""
    found = re.search(r"127\.0\.0\.1:(\d+)", first_line)
    assert found is not None, first_line
    return socket.create_connection(("127.0.0.1", int(found[1])), timeout=PATIENCE_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_status_0(number: signal.Signals) -> None:
    with running("--policy", "disjoint") as (process, output, first):
        assert re.fullmatch(
            r"0\.\d{6} listening address=127\.0\.0\.1:\d+ transport=tcp policy=disjoint\n", first
        )
        with connect(first) as switch:
            hello = switch.recv(8)
            assert (hello[0], hello[1]) == (_VERSION, _HELLO)
            process.send_signal(number)
            lines = output.read().splitlines()
        assert process.wait(PATIENCE_S) == 0
    assert [line.split(" ", 2)[1] for line in lines] == ["channel_opened", "channel_closed"]
    assert lines[-1].endswith('channel=1 reason="the controller ends"')


def test_events_are_lines_of_json() -> None:
    with running("--json") as (process, output, first):
        listening = json.loads(first)
        assert listening["event"] == "listening"
        assert listening["policy"] == "earliest-completion"
        with connect(first) as switch:
            switch.sendall(b"\xff" * 100_000)
            opened, closed = json.loads(output.readline()), json.loads(output.readline())
        assert opened["event"] == "channel_opened"
        assert opened["channel"] == closed["channel"]
        assert closed["event"] == "channel_closed"
        assert "no message of OpenFlow 1.3" in closed["reason"]
        assert listening["t_ns"] < opened["t_ns"] <= closed["t_ns"]
        assert process.poll() is None


def test_the_state_can_be_read_over_http(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    with running("--http", "127.0.0.1:0", "--http-token", str(token)) as (_, output, first):
        listening = output.readline()
        found = re.search(r"listening_http address=(127\.0\.0\.1:\d+) transport=tcp", listening)
        assert found is not None, listening
        request = Request(f"http://{found[1]}/api/v1/topology")
        with pytest.raises(HTTPError, match="401"):
            urlopen(request, timeout=PATIENCE_S)
        request.add_header("Authorization", "Bearer 0123456789abcdef")
        with connect(first), urlopen(request, timeout=PATIENCE_S) as answer:
            assert json.load(answer)["policy"] == "earliest-completion"


def test_it_ends_when_nobody_reads_any_more() -> None:
    with running() as (process, output, first):
        output.close()
        while process.poll() is None:
            # Each connection is a line that cannot be written.
            with suppress(OSError):
                connect(first).close()
        assert process.returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "disjiont"], 'there is no such policy: did you mean "disjoint"?'),
        (["--listen", "localhost:6653"], "write an address and a port"),
        (["--listen", "127.0.0.1"], "write an address and a port"),
        (["--listen", "::1:6653"], "write an address and a port"),
        (["--listen", "[fe80::1%eth0]:6653"], "give an address that needs no interface"),
        (["--listen", "127.0.0.1:66530"], "write an address and a port"),
        (["--listen", "192.0.2.1:6653"], "beyond the loopback: give --tls-ca"),
        (["--listen", "192.0.2.1:6653", "--plain-tcp"], "192.0.2.1:6653: cannot listen there: "),
        (["--tls-cert", "cert.pem"], "--tls-ca and --tls-cert: give both"),
        (["--tls-ca", "no.pem", "--tls-cert", "no.pem"], "no.pem: cannot be read: "),
        (["--link-probe", "often"], "--link-probe often: "),
        (["--link-probe", "2 min"], "frames by which links are found are 500 ms to 60 s apart"),
        (["--http", "localhost:8080"], "write an address and a port, such as 127.0.0.1:8080"),
        (["--http", "192.0.2.1:8080"], "is beyond the loopback: give --http-cert"),
        (
            ["--http", "127.0.0.1:0", "--http-cert", "c.pem"],
            "--http-cert and --http-key: give both",
        ),
        (["--http-token", "token"], "they belong to --http"),
        (["--http", "127.0.0.1:0", "--http-token", "no"], "no: cannot be read: "),
        (
            ["--tcp-fallback", "--policy", "disjoint"],
            "--tcp-fallback: is of the policy earliest-completion alone",
        ),
        (["--tcp-fallback"], "--tcp-fallback: needs sizes that are told: in the file of --network"),
        (["--network", "no.yaml"], "no.yaml: cannot be read (No such file or directory)"),
    ],
)
def test_options_that_cannot_be_carried_out_are_told(options: list[str], message: str) -> None:
    assert message in refused(*options)


def test_every_mistake_of_a_network_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(
        "rates:\n"
        "  0000000000000001:2: 10 MB/s\n"
        "  s1:2: 10 Mbit/s\n"
        "  1:0: 10 Mbit/s\n"
        "  1:2: 0 Mbit/s\n"
        "sizes:\n"
        "  10.0.0.2: 1 MB\n"
        "  10.0.0.300:80: 1 MB\n"
        "  10.0.0.2:80: many\n"
        "  fe80::1:80: 1 MB\n"
        '  "[fe80::1%eth0]:80": 1 MB\n'
        "bandwidth: 1\n"
    )
    told = refused("--network", str(file)).splitlines()
    assert [line.removeprefix(f"{file}:").partition(":")[0] for line in sorted(told)] == [
        "10", "11", "12", "2", "3", "4", "5", "7", "8", "9"
    ]  # fmt: skip
    assert any('did you mean "80 Mbit/s"?' in line for line in told)
    assert any("no port of a switch: write the datapath in hexadecimal" in line for line in told)


def test_a_network_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(
        "rates:\n  0000525400123456:2: 10 Mbit/s\n  0xab:1: 1 Gbit/s\n"
        'sizes:\n  10.0.0.2:80: 500 kB\n  "[2001:db8::1]:443": 1 MB\n'
    )
    with running("--network", str(file), "--learn-sizes", "--tcp-fallback") as (process, _, first):
        assert "listening" in first
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0


def test_a_policy_in_python_serves(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("def choose(connection, subflow, paths):\n    return paths.disjoint[0]\n")
    with running("--policy", f"{file}:choose") as (process, _, first):
        assert first.endswith(f"policy={file}:choose\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def choose(connection, subflow, paths:\n", "own.py:1: is no Python 3."),
        ("def other(connection, subflow, paths): ...\n", "own.py:1: defines no choose: add `def"),
        ("def choose(connection): ...\n", "own.py:1: choose does not take three arguments: write"),
        ("import nothing\ndef choose(*all): ...\n", "own.py:1: ModuleNotFoundError: No module nam"),
    ],
)
def test_a_policy_in_python_that_cannot_be_used_is_told(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "own.py").write_text(text)
    assert message in refused("--policy", f"{tmp_path / 'own.py'}:choose")
