"""Interfaces that are captured and analysed meanwhile, in a network namespace of the test's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

import mptcplab
from mptcplab import trace
from mptcplab.trace.live.capture_file import CaptureFile, Described, Packet
from mptcplab.trace.live.recording import Analysis

PACKETS = some.lists(
    some.builds(
        Packet,
        some.integers(0, 1),
        some.integers(0, 2**62),
        some.binary(max_size=200),
        some.integers(200, 2**32 - 1),
    ),
    max_size=20,
)
TALK = """
import socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", 5001))
listener.listen()
client = socket.create_connection(("127.0.0.1", 5001))
server, _ = listener.accept()
client.sendall(b"x" * 50_000)
read = 0
while read < 50_000:
    read += len(server.recv(65536))
server.close()
client.close()
"""
TAGGED = """
import select, socket
from mptcplab.trace.live.packet_socket import PacketSocket
taken = PacketSocket("far", 0)
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind(("near", 0))
for rest in ("8100 6007 88b5", "88a8 0009 8100 0005 88b5", "88b5"):
    sender.send(bytes.fromhex("020000000002 020000000001" + rest + "ab" * 50))
    found = []
    while not found and select.select([taken], [], [], 20)[0]:
        every = taken.take()
        found = [one for one in every if one.data.endswith(b"\\xab" * 50)]
    for one in found:
        print(one.data[12:-50].hex(), one.original_bytes - len(one.data))
"""
PATIENCE_S = 60


@given(PACKETS)
def test_a_written_capture_can_be_read(packets: list[Packet]) -> None:
    # A temporary folder of pytest's would be that of all examples.
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "written.pcapng"
        file = CaptureFile(path, [Described("wifi", 1), Described("lté", 101)])
        for first in range(0, len(packets), 7):
            file.put(packets[first : first + 7])
        file.close()
        with trace.read(path, workers=1) as found:
            (read,) = found.capture.files
            assert (read.frames, read.damage) == (len(packets), None)
            assert [one.name for one in found.capture.interfaces] == ["wifi", "lté"]
            if packets:
                times = [packet.at_ns for packet in packets]
                assert (read.first_ns, read.last_ns) == (min(times), max(times))


def test_a_capture_that_is_there_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "there.pcapng"
    path.write_bytes(b"something")
    with pytest.raises(FileExistsError):
        CaptureFile(path, [])
    assert path.read_bytes() == b"something"


def test_the_newest_analysis_follows_the_file(tmp_path: Path) -> None:
    path = tmp_path / "growing.pcapng"
    file = CaptureFile(path, [Described("wifi", 1)])
    with Analysis(path) as analysis:
        assert analysis.newest(0) is None
        file.put([Packet(0, 10**9, b"no segment", 10)])
        end = time.monotonic() + PATIENCE_S
        while (found := analysis.newest(1)) is None and time.monotonic() < end:
            time.sleep(0.05)
        assert found is not None
        assert found.capture.frames == 1
    file.close()


def test_a_capture_goes_on_where_its_analysis_fails(tmp_path: Path) -> None:
    with Analysis(tmp_path / "gone.pcapng") as analysis:
        for packets in (1, 2):
            end = time.monotonic() + PATIENCE_S
            # The second one begins once the first one has failed.
            while analysis.begun_with < packets and time.monotonic() < end:
                assert analysis.newest(packets) is None
                time.sleep(0.05)
            assert analysis.begun_with == packets


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(mptcplab.__file__).parents[1]), "COLUMNS": "150"}


def _within(script: str, folder: Path, *, network: bool = True) -> subprocess.Popen[str]:
    """Runs a script of the shell in a user namespace, with a network of its own or without."""
    words = ["unshare", "--user", "--map-root-user", *(["--net"] if network else [])]
    return subprocess.Popen(
        [*words, "sh", "-c", script],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _refused() -> str | None:
    """Why no user has a network of their own here; null if all have."""
    words = ["unshare", "--user", "--map-root-user", "--net", "ip", "link", "set", "lo", "up"]
    try:
        tried = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no `unshare` (util-linux)"
    return None if tried.returncode == 0 else f"no namespaces of a user: {tried.stderr.strip()}"


needs_namespaces = pytest.mark.skipif(_refused() is not None, reason=str(_refused()))


@needs_namespaces
def test_what_was_seen_until_ctrl_c_is_kept_and_told(tmp_path: Path) -> None:
    (tmp_path / "talk.py").write_text(TALK)
    python = sys.executable
    capture = f"exec {python} -m mptcplab trace --interface lo --write live.pcapng"
    script = f"ip link set lo up; (while ! test -e go; do sleep 0.1; done; {python} talk.py) & "
    running = _within(script + capture, tmp_path)
    file = tmp_path / "live.pcapng"
    try:
        _wait(file.exists)
        empty = file.stat().st_size
        (tmp_path / "go").touch()
        _wait(lambda: file.stat().st_size > empty + 50_000)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=PATIENCE_S)
    finally:
        running.kill()
    assert running.returncode == 0, errors
    assert "capturing lo into live.pcapng: Ctrl-C ends it" in errors
    assert "live.pcapng: " in errors
    assert "127.0.0.1:5001" in output
    found = trace.read(file, workers=1)
    (row,) = found.connections.to_dicts()
    assert (row["client_bytes"], row["server_bytes"], row["end"]) == (50_000, 0, "fin")
    assert found.capture.duplicates == 0
    assert [one.name for one in found.capture.interfaces] == ["lo"]


def _wait(condition: object) -> None:
    assert callable(condition)
    end = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    assert condition()


@needs_namespaces
def test_the_tag_that_the_kernel_takes_off_is_put_back(tmp_path: Path) -> None:
    (tmp_path / "tagged.py").write_text(TAGGED)
    link = "ip link add near type veth peer name far && ip link set near up && ip link set far up"
    running = _within(f"{link} && {sys.executable} tagged.py", tmp_path)
    output, errors = running.communicate(timeout=PATIENCE_S)
    assert output.splitlines() == ["8100600788b5 0", "88a800098100000588b5 0", "88b5 0"], errors


@needs_namespaces
@pytest.mark.parametrize(
    ("words", "network", "message"),
    [
        ("--interface lo", False, "CAP_NET_RAW): run it by sudo; or, where dumpcap may"),
        ("--interface wifi", True, "wifi: there is no such interface, only lo"),
        ("--interface lo", True, "is there already: choose another name by --write"),
        ("--interface lo,lo", True, "name each once, such as wifi,lte"),
        ("--interface lo live.pcapng", True, "captures anew: name no files beside it"),
        ("", True, "nothing to read: name captures, or interfaces by --interface"),
        ("--interface lo --filter 'bites > 1'", True, "'bites' is nothing to ask for"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, words: str, network: bool, message: str) -> None:
    if "already" in message:
        (tmp_path / "live.pcapng").touch()
    write = "--write live.pcapng" if "interface" in words else ""
    running = _within(
        f"{sys.executable} -m mptcplab trace {words} {write}", tmp_path, network=network
    )
    output, errors = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 1, errors
    assert message in errors
    assert "Traceback" not in errors
    assert output == ""
