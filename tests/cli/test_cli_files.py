"""Files that a user names: regular ones of bounded size only, and nothing of them in messages."""

import json
import os
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.launch import COMMAND

from mptcplab.recording import RecordingError, Result
from mptcplab.scenario import ScenarioError, load
from mptcplab.trace import TraceError, open_tables
from mptcplab.user_file import FileError, read_bytes, read_text

SCENARIO = """\
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], trace: TRACE}}
traffic: [{bulk: {from: client, to: server, way: up, duration: 1 s}}]
"""
PIPE = "cannot be read (it is a pipe: write its content into a file)"
DEVICE = "cannot be read (it is a device: write its content into a file)"
KINDS = [("pipe", PIPE), ("/dev/zero", DEVICE)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    before = signal.signal(signal.SIGALRM, _waits)
    signal.alarm(60)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _waits(*_: object) -> None:
    raise AssertionError("it waits for somebody to write into the pipe")


@pytest.mark.parametrize(("file", "why"), KINDS)
def test_what_is_no_regular_file_is_refused_at_once(file: str, why: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        load(Path(file))
    assert str(raised.value).startswith(f"{file}: {why}")


@pytest.mark.parametrize(("file", "why"), KINDS)
def test_a_trace_that_is_no_regular_file_is_refused_at_its_key(file: str, why: str) -> None:
    Path("x.yaml").write_text(SCENARIO.replace("TRACE", file))
    with pytest.raises(ScenarioError) as raised:
        load("x.yaml")
    assert str(raised.value) == f"x.yaml:2: links.a.trace: {file}: {why}"


def test_recordings_and_analyses_behind_links_to_devices_are_refused(folder: Path) -> None:
    Path("result.json").symlink_to("/dev/zero")
    Path("capture.json").symlink_to("pipe")
    with pytest.raises(RecordingError):
        Result.open(folder)
    with pytest.raises(TraceError):
        open_tables(folder)


@pytest.mark.parametrize("secret", ["root:hunter2:1\n", "7\nroot:hunter2\n", "hunter2 \xff\n"])
def test_nothing_of_a_wrong_trace_is_told(secret: str) -> None:
    Path("shadow").write_text(secret, encoding="latin-1")
    Path("x.yaml").write_text(SCENARIO.replace("TRACE", "shadow"))
    with pytest.raises(ScenarioError) as raised:
        load("x.yaml")
    assert str(raised.value).startswith("x.yaml:2: links.a.trace: shadow:")
    assert "hunter2" not in str(raised.value)


def test_nothing_of_a_wrong_analysis_is_told(folder: Path) -> None:
    found = {"files": [], "interfaces": [], "interrupted": False, "frames": "hunter2"}
    Path("capture.json").write_text(json.dumps(found))
    with pytest.raises(TraceError) as raised:
        open_tables(folder)
    assert str(raised.value) == f"{folder}/capture.json: not the description of an analysis"


def test_the_limit_is_a_size_that_still_passes() -> None:
    Path("full").write_bytes(b"x" * (128 * 1024))
    assert len(read_bytes(Path("full"), 128 * 1024)) == 128 * 1024
    for limit, words in [(128 * 1024 - 1, "127 KiB"), (1024, "1 KiB")]:
        with pytest.raises(FileError, match=f"^larger than {words}$"):
            read_bytes(Path("full"), limit)


def test_a_decoding_error_tells_the_offset_only() -> None:
    Path("latin").write_bytes(b"caf\xe9 secret")
    with pytest.raises(FileError, match=r"^is not text in UTF-8 \(byte 3\)$"):
        read_text(Path("latin"), 100)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere", "No such file or directory"),
        (".", "Is a directory"),
        ("a\0b", "no file has such a name"),
    ],
)
def test_the_reason_is_named(name: str, why: str) -> None:
    with pytest.raises(FileError) as raised:
        read_bytes(Path(name), 100)
    assert str(raised.value) == f"cannot be read ({why})"


NO_PACKETS = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
"""A pcap file of Ethernet that has nothing but its header."""


@pytest.mark.parametrize("words", [["pipe"], ["none.pcap", "--peer", "pipe"]])
def test_a_pipe_as_a_capture_is_refused_at_once(words: list[str]) -> None:
    Path("none.pcap").write_bytes(NO_PACKETS)
    ended = subprocess.run([COMMAND, "trace", *words], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "pipe: it is a pipe: name it `-`, and send it to standard input" in ended.stderr
