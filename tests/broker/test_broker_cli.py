"""`mptcplab broker` as a process, in namespaces of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from tests.broker.running import BROKER, answers, running

UNSHARE = ["unshare", "--user", "--map-root-user", "--net"]


def has_namespaces() -> bool:
    command = [*UNSHARE, "test", "-e", "/proc/sys/net/mptcp"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


needs_namespaces = pytest.mark.skipif(
    not has_namespaces(), reason="no user namespaces, or no MPTCP in the kernel"
)


def refusal(*options: str) -> str:
    done = subprocess.run([*BROKER, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@needs_namespaces
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_broker_listens_until_it_is_told_to_end(tmp_path: Path, ending: signal.Signals) -> None:
    path = tmp_path / "run" / "broker.sock"
    with running(path, "--mode", "0660", prefix=UNSHARE) as process:
        assert path.stat().st_mode & 0o777 == 0o660
        process.send_signal(ending)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 0
    assert not path.exists()
    assert f"listening at {path}" in said


@needs_namespaces
def test_what_is_not_understood_is_answered_and_logged(tmp_path: Path) -> None:
    path = tmp_path / "broker.sock"
    with running(path, prefix=UNSHARE) as process:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(str(path))
            client.send(b"{")
            answer = client.recv(4096).decode()
        assert answer.startswith('{"failed":{"id":0,"error":{"kind":"protocol"')
        process.terminate()
        _, said = process.communicate(timeout=30)
    [line] = [line for line in said.splitlines() if line.startswith("uid=")]
    assert line.startswith(f"uid=0 pid={os.getpid()} token=- ")
    assert 'order=- result="not understood: ' in line


@needs_namespaces
def test_a_socket_is_taken_from_systemd_and_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "broker.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()
        passed = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        command = [*UNSHARE, "sh", "-c", passed, "sh", *BROKER, "--socket", "elsewhere.sock"]
        with (
            subprocess.Popen(
                command, pass_fds=[3], preexec_fn=lambda: os.dup2(listener.fileno(), 3)
            ) as process,
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client,
        ):
            client.settimeout(30)
            # It waits in the queue until there is somebody who accepts it.
            client.connect(str(path))
            client.send(b"{")
            assert client.recv(4096).startswith(b'{"failed"')
            process.terminate()
            assert process.wait(timeout=30) == 0
    assert path.exists()


@needs_namespaces
def test_a_second_broker_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broker.sock"
    with running(path, prefix=UNSHARE):
        command = [*UNSHARE, *BROKER, "--socket", str(path)]
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert "a broker answers at" in second.stderr
        assert answers(path)


def test_mistakes_are_named(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("rules:\n  - users: all\n    max_subflow: 2\n")
    assert f"{policy}:3: rules.0.max_subflow: unknown key" in refusal("--policy", str(policy))
    assert "--mode: '999' are no permissions" in refusal("--mode", "999")
    assert "--user: 'nobody-of-this-name': there is no user" in refusal(
        "--user", "nobody-of-this-name"
    )
    for folder in (".", str(tmp_path)):
        told = refusal("--socket", folder)
        assert f"--socket {folder}: is a folder: name the socket in it" in told
    lost = tmp_path / "nosuch" / "folder" / "b.sock"
    for also in ([], ["--check"]):
        assert f"there is no folder {tmp_path / 'nosuch'}" in refusal("--socket", str(lost), *also)
    assert not (tmp_path / "nosuch").exists()


def test_a_policy_can_be_checked(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("rules: [{users: all}]\n")
    command = [*BROKER, "--check", "--policy", str(policy)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "the policy is in order\n"
