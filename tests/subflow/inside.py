"""Tests that run as root of a user and a network namespace of their own."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.system import mptcp_missing

from mptcplab.engine.kernel.coupled import load_refused

_INSIDE = "MPTCPLAB_TEST_INSIDE"
_ENTER = ("unshare", "--net")
_ENTER_AS_USER = (*_ENTER, "--user", "--map-root-user")
_TIME_LIMIT_S = 120


@functools.cache
def missing() -> str | None:
    """The thing that these tests need and is not here; null if nothing."""
    try:
        words = [*_ENTER_AS_USER, "ip", "link", "set", "lo", "up"]
        tried = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no `unshare` (util-linux)"
    if tried.returncode != 0:
        return f"no namespaces: {tried.stderr.strip()}"
    return mptcp_missing()


def inside(test: Callable[[], None]) -> Callable[[], None]:
    """Runs a test again in a process that is root in namespaces of its own.

    A process must have a single thread to enter a user namespace, and this one may have more.
    """
    return _again(test, _ENTER_AS_USER, missing)


def inside_as_root(test: Callable[[], None]) -> Callable[[], None]:
    """As `inside`, in a network namespace only, by root: a test that needs BPF."""

    def missing() -> str | None:
        if os.geteuid() != 0:
            return "only root can run it"
        return mptcp_missing() or load_refused("wvegas")

    return _again(test, _ENTER, missing)


def _again(
    test: Callable[[], None], enter: tuple[str, ...], missing: Callable[[], str | None]
) -> Callable[[], None]:
    file = Path(inspect.getfile(test))

    @functools.wraps(test)
    def run() -> None:
        if _INSIDE in os.environ:
            return test()
        if reason := missing():
            pytest.skip(reason)
        words = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
        ended = subprocess.run(
            [*enter, *words, f"{file}::{test.__name__}"],
            env=os.environ | {_INSIDE: "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIME_LIMIT_S,
            text=True,
        )
        assert ended.returncode == 0, ended.stdout
        assert "1 passed" in ended.stdout, ended.stdout
        return None

    return run
