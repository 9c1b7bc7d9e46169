"""The abilities of this system, and the parts of its state that a run must not change."""

import json
import os
import socket
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mptcplab.recording import Recording

_VOLATILE = {"valid_life_time", "preferred_life_time", "expires", "txqlen"}
"""Fields of the output of `ip` that change while nobody touches anything."""


def network_state() -> dict[str, Any]:
    """Interfaces, addresses, rules and routes of the caller's network namespace."""
    questions = {
        "link": ["link"],
        "address": ["address"],
        "rules": ["rule"],
        "rules6": ["-6", "rule"],
        "routes": ["route", "show", "table", "all"],
        "routes6": ["-6", "route", "show", "table", "all"],
    }
    return {name: _steady(_ip(words)) for name, words in questions.items()}


def _ip(words: list[str]) -> Any:
    answer = subprocess.run(["ip", "-j", *words], capture_output=True, text=True, check=True)
    return json.loads(answer.stdout or "[]")


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in _VOLATILE}
    if isinstance(value, list):
        return [_steady(item) for item in value]
    return value


def network_namespaces(mark: str) -> set[int]:
    """The network namespaces of all processes that have `mark` in their environment."""
    return {
        (process / "ns/net").stat().st_ino
        for process in Path("/proc").iterdir()
        if process.name.isdigit() and has_mark(process, mark)
    }


def has_mark(process: Path, mark: str) -> bool:
    """Whether `mark` (NAME=VALUE) is in the environment of the process at `/proc/PID`."""
    try:
        return mark.encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def marked(mark: str) -> list[int]:
    """All processes with `mark` in their environment."""
    found = Path("/proc").iterdir()
    return sorted(int(one.name) for one in found if one.name.isdigit() and has_mark(one, mark))


@cache
def namespaces_refused() -> str | None:
    """Why the kernel engine cannot run here at all; null if it can."""
    words = ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "true"]
    if os.geteuid() == 0:
        words = ["unshare", "--net", "--pid", "--fork", "true"]
    try:
        tried = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no `unshare` (util-linux)"
    return None if tried.returncode == 0 else f"no namespaces: {tried.stderr.strip()}"


@cache
def mptcp_missing() -> str | None:
    """Why there are no MPTCP sockets; null if there are."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except OSError as error:
        return f"no MPTCP sockets: {error.strerror}"
    return None


@cache
def ipv6_missing() -> str | None:
    """Why there are no MPTCP sockets of IPv6; null if there are."""
    try:
        socket.socket(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except OSError as error:
        return f"no MPTCP sockets of IPv6: {error.strerror}"
    return None


def warnings_of_the_run(recording: Recording) -> list[str]:
    """The warnings of a recording but those of a machine that was too busy for the links."""
    return [text for text in recording.manifest.warnings if "this machine is too" not in text]


needs_namespaces = pytest.mark.skipif(
    namespaces_refused() is not None, reason=str(namespaces_refused())
)
needs_mptcp = pytest.mark.skipif(
    (namespaces_refused() or mptcp_missing()) is not None,
    reason=str(namespaces_refused() or mptcp_missing()),
)
