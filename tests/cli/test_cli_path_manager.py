"""`path-manager`: its mistakes, and the setting that it takes and gives back."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("mptcplab")
NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")


def refused() -> str | None:
    """Why there are no namespaces with MPTCP here."""
    look = [*NAMESPACE, "cat", "/proc/sys/net/mptcp/enabled"]
    try:
        found = subprocess.run(look, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return None if found.returncode == 0 else found.stderr.strip()


needs_namespace = pytest.mark.skipif(refused() is not None, reason=str(refused()))

STORY = """\
import socket, subprocess, sys
setting = lambda: open("/proc/sys/net/mptcp/path_manager").read()
for words in (
    "link set lo up",
    "link add here type veth peer name there",
    "addr add 10.9.0.1/24 dev here",
    "link set here up",
    "link set there up",
):
    subprocess.run(["ip", *words.split()], check=True)
before = setting()
words = [sys.argv[1], "path-manager", "ndiffports", "--subflows", "3", "--json"]
pipe = subprocess.PIPE
manager = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True)
assert manager.stderr.readline() == "at work; Ctrl-C ends it\\n"
assert setting() == "userspace\\n"
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
listener.bind(("10.9.0.1", 0))
listener.listen()
client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
client.connect(listener.getsockname())
server, _ = listener.accept()
client.sendall(b"x")
server.recv(1)
for _ in range(2):
    print(manager.stdout.readline(), end="")
manager.send_signal(2)
print(manager.wait(), before == setting())
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)


@needs_namespace
def test_it_opens_subflows_and_gives_the_setting_back() -> None:
    told = subprocess.run(
        [*NAMESPACE, sys.executable, "-c", STORY, COMMAND],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    *orders, end = told.stdout.splitlines()
    assert end == "0 True", told.stderr
    assert [json.loads(order)["order"] for order in orders] == ["open", "open"]
    assert [json.loads(order)["refused"] for order in orders] == [None, None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fullmesh", "--after", "100kB"], "--after: '100kB': write SIZE=SUBFLOWS"),
        (["fullmesh", "--after", "100=2"], '--after: a size needs a unit: did you mean "100 B"?'),
        (["fullmesh", "--after", "100kB=0"], "'100kB=0': a connection has 1 to 255 subflows"),
        (["fullmesh", "--after", "1kB=99999"], "a connection has 1 to 255 subflows"),
        (
            ["fullmesh", "--after", "400kB=2", "--after", "100kB=4"],
            "--after 100kB=4 --after 400kB=2: steps must rise",
        ),
        (["fullmesh", "--after", "1kB=2", "--after", "1kB=4"], "steps must rise"),
        (["meshfull"], "meshfull"),
        (["fullmesh", "--subflows", "3"], "--subflows says nothing for fullmesh: leave it out"),
        (["fullmesh", "--prefer", "wlan0"], "--prefer says nothing for fullmesh"),
        (["handover", "--backup", "wwan0"], "--backup says nothing for handover"),
        (["handover", "--after", "1MB=2"], "--after says nothing for handover"),
        (["none", "--signal", "--refresh"], "--refresh says nothing for none"),
        (["none"], "none opens nothing: add --signal"),
        (["ndiffports", "--subflows", "9", "--most", "8"], "--most 8 allows: raise --most"),
    ],
)
def test_a_mistake_is_named(words: list[str], message: str) -> None:
    ended = run("path-manager", *words)
    assert ended.returncode != 0
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


@needs_namespace
@pytest.mark.parametrize(("kind", "option"), [("handover", "--prefer"), ("fullmesh", "--backup")])
def test_an_interface_that_is_not_there_is_told_of(kind: str, option: str) -> None:
    words = ["path-manager", kind, option, "lo", option, "nosuch"]
    with subprocess.Popen(
        [*NAMESPACE, COMMAND, *words], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        told = [process.stderr.readline(), process.stderr.readline()]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert told == [
        f"{option} nosuch: there is no such interface now\n",
        "at work; Ctrl-C ends it\n",
    ]
