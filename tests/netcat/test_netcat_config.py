"""The file that says which address is WiFi and which is cellular, and options about subflows."""

import os
from pathlib import Path

import pytest
from tests.netcat.programs import Netcat


def test_a_file_that_is_not_there_says_what_to_write(tmp_path: Path) -> None:
    status, _, told = Netcat(["-W", "localhost", 1], tmp_path).end()
    assert status == 1
    assert "mptcplab/nc.yaml: cannot be read (No such file or directory); write `wifi:`" in told
    assert "Traceback" not in told


def config(folder: Path, text: str) -> Path:
    """The configuration of the user whose home is in `folder`."""
    file = folder / "home" / ".config" / "mptcplab" / "nc.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize("text", ["wifi: 127.0.0.2\n", "# shell\nWIFI=127.0.0.2\n"])
def test_both_forms_of_the_file_are_read(text: str, tmp_path: Path) -> None:
    config(tmp_path, text)
    status, _, told = Netcat(["-C", "localhost", 1], tmp_path).end()
    assert status == 1
    assert "nc.yaml: no `cellular`: write cellular: with an address of this host" in told


@pytest.mark.parametrize(("file", "kind"), [("pipe", "a pipe"), ("/dev/zero", "a device")])
def test_what_is_no_regular_file_is_refused(file: str, kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, _, told = Netcat(["-W", "--config", file, "localhost", 1], tmp_path).end()
    assert status == 1
    assert f"{file}: cannot be read (it is {kind}: write its content into a file)" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-a", "-l", "1"], "-l: the client opens the subflows"),
        (["-a", "--tcp", "localhost", "1"], "subflows: MPTCP only"),
        (["-z", "-I", "eth0", "localhost", "1"], "subflows: not of a scan"),
        (["-I", "a/b", "localhost", "1"], "-I a/b: an interface of this host"),
        (["-I", "eth1", "--backup", "eth1", "localhost", "1"], "eth1: asked for twice"),
    ],
)
def test_contradictions_are_named(words: list[str], said: str, tmp_path: Path) -> None:
    status, _, told = Netcat(words, tmp_path).end()
    assert status == 1
    assert said in told
