"""Figures of programs over real links: to the byte what the programs themselves say."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from tests.engine.system import warnings_of_the_run
from tests.engine.worlds import two_paths

from mptcplab.engine import run
from mptcplab.engine.choice import KERNEL
from mptcplab.metrics import measure
from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.programs import program_transfers
from mptcplab.recording import Recording
from mptcplab.scenario import load

SCENARIO = """\
traffic:
  - command: {on: client, run: CLIENT, SERVER}
variants:
  tcp: {protocol: tcp, via: a}
  mptcp: {protocol: mptcp}
repetitions: 1
"""
PROTOCOLS = pytest.mark.parametrize("protocol", ["tcp", "mptcp"])

ANSWER = """
import os, socket, sys
listener = socket.create_server(("", int(sys.argv[1])), backlog=100)
while True:
    peer, _ = listener.accept()
    if os.fork():
        peer.close()
        continue
    listener.close()
    wanted = int.from_bytes(peer.recv(8, socket.MSG_WAITALL))
    while peer.recv(65536):
        pass
    peer.sendall(bytes(wanted))
    peer.close()
    os._exit(0)
"""
ASK = """
import os, socket, sys
def ask(size):
    peer = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    peer.sendall(size.to_bytes(8) + bytes(1000))
    peer.shutdown(socket.SHUT_WR)
    got = 0
    while data := peer.recv(65536):
        got += len(data)
    assert got == size
    peer.close()
for size in range(5000, 5010):
    if not (child := os.fork()):
        ask(size)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


SERVER = ["python3", "-m", "http.server", "{port}"]


def recorded(tmp_path: Path, protocol: str, client: list[str], server: list[str]) -> Recording:
    serves = f"server: {{on: server, run: {json.dumps(server)}}}"
    text = SCENARIO.replace("CLIENT", json.dumps(client)).replace("SERVER", serves)
    scenario = load(two_paths(tmp_path, "own", text))
    return run(scenario, protocol, tmp_path / "out", engine=KERNEL)


def carried(recording: Recording) -> dict[str, int]:
    """Payload each way."""
    carried: Counter[str] = Counter()
    for row in program_transfers(recording, PlanView(recording)):
        carried[row["way"]] += row["bytes"]
    return dict(carried)


def printed(recording: Recording) -> str:
    """The standard output of the client's program."""
    rows = recording.frame("outputs").filter(node="client", stream="stdout")
    return "\n".join(rows["text"])


@PROTOCOLS
def test_curl_s_bytes_are_those_of_its_sockets(tmp_path: Path, protocol: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    file = tmp_path / "file"
    file.write_bytes(bytes(1_000_000))
    words = "%{size_header} %{size_download} %{size_request}"
    client = ["curl", "-sS", "-o", "/dev/null", "-w", words, "http://{server}:{port}/file"]
    server = ["python3", "-m", "http.server", "-d", str(tmp_path), "{port}"]
    recording = recorded(tmp_path, protocol, client, server)
    header, body, request = map(int, printed(recording).split())
    assert body == 1_000_000
    assert carried(recording) == {"down": header + body, "up": request}
    metrics = measure(recording).metrics
    assert metrics["completed"] == 1.0
    seconds, rate = metrics["completion_s"], metrics["goodput"]
    assert seconds is not None
    assert rate == pytest.approx((header + body + request) * 8 / seconds / 1e6)
    shares = [metrics[f"share.{path}"] or 0 for path in "ab" if f"share.{path}" in metrics]
    assert sum(shares) == pytest.approx(1)
    # TCP is on one path; 1 MB takes twenty round trips, in which a second path joins.
    assert len(shares) == (1 if protocol == "tcp" else 2)


@PROTOCOLS
def test_short_connections_of_many_processes_are_all_there(tmp_path: Path, protocol: str) -> None:
    client = ["python3", "-c", ASK, "{server}", "{port}"]
    server = ["python3", "-c", ANSWER, "{port}"]
    recording = recorded(tmp_path, protocol, client, server)
    assert carried(recording) == {"up": 10 * 1008, "down": sum(range(5000, 5010))}
    transfers = program_transfers(recording, PlanView(recording))
    assert len(transfers) == 20
    assert len({row["index"] for row in transfers}) == 10
    assert all((row["token"] is not None) is (protocol == "mptcp") for row in transfers)
    assert all(row["end_ns"] > row["start_ns"] for row in transfers)


@PROTOCOLS
@pytest.mark.parametrize("way", ["up", "down"])
def test_iperf3_s_bytes_are_those_of_its_sockets(tmp_path: Path, protocol: str, way: str) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("there is no iperf3")
    reverse = ["-R"] if way == "down" else []
    client = ["iperf3", "-c", "{server}", "-p", "{port}", "-k", "10", "-l", "100K", "-J", *reverse]
    server = ["iperf3", "-s", "-1", "-p", "{port}"]
    recording = recorded(tmp_path, protocol, client, server)
    told = json.loads(printed(recording))["end"]
    transfers = [
        row for row in program_transfers(recording, PlanView(recording)) if row["way"] == way
    ]
    # The connection of the data begins with a cookie of 37 bytes from the client; the other one is
    # that of the orders. A server that was told of the end leaves what it has not read.
    size = max(row["bytes"] for row in transfers) - (37 if way == "up" else 0)
    # The kernel counts the FIN of each of the two subflows as a byte if it is acknowledged.
    assert told["sum_received"]["bytes"] <= size <= told["sum_sent"]["bytes"] + 2
    assert len(transfers) == 2


def test_a_client_s_data_that_is_under_way_at_its_end_arrives(tmp_path: Path) -> None:
    # A megabyte takes 0.4 s; the program leaves it to the kernel and is gone.
    leave = (
        "import socket, sys\n"
        "peer = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)\n"
        "peer.sendall(bytes(1_000_000))\n"
    )
    take = (
        "import socket, sys\n"
        "peer, _ = socket.create_server(('', int(sys.argv[1]))).accept()\n"
        "while peer.recv(65536):\n"
        "    pass\n"
    )
    client = ["python3", "-c", leave, "{server}", "{port}"]
    recording = recorded(tmp_path, "tcp", client, ["python3", "-c", take, "{port}"])
    assert carried(recording) == {"up": 1_000_000}
    # The server may be ended before it has ended by itself.
    (row,) = recording.frame("programs").filter(side="client").to_dicts()
    assert row["status"] == 0


def test_a_program_that_is_not_there_gets_one_warning_and_its_row(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "mptcp", ["nosuchprog"], SERVER)
    assert warnings_of_the_run(recording) == [
        "command: nosuchprog on client could not be run: no such file or directory",
    ]
    (row,) = recording.frame("programs").filter(side="client").to_dicts()
    assert (row["ended"], row["error"]) == ("failed", "no such file or directory")
    assert measure(recording).metrics["completed"] == 0.0


def test_a_program_that_connects_nothing_is_not_blamed_for_one_path(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "mptcp", ["true"], SERVER)
    assert warnings_of_the_run(recording) == []
    assert recording.frame("sockets").is_empty()
