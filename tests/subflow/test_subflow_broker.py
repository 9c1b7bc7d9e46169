"""A program without any privilege, and a broker."""

import ctypes
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.broker.running import running
from tests.engine.launch import wait_for
from tests.subflow.hosts import Hosts, ip
from tests.subflow.inside import inside
from tests.subflow.test_subflow_story import NOBODY, stage, tell

from mptcplab import subflow
from mptcplab.subflow import Manager, errors

_CAPABILITY_VERSION = 0x20080522


@contextmanager
def _broker() -> Iterator[None]:
    """A broker in the process's namespace that its programs find."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "broker.sock")
        with running(path):
            os.environ["MPTCPLAB_BROKER"] = str(path)
            yield


def _drop_capabilities() -> None:
    """Leaves the calling thread without any."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(header, none) == 0


@inside
def test_by_a_broker_python_tells_the_same_story_without_privilege() -> None:
    listener = stage()
    with _broker():
        _drop_capabilities()
        with pytest.raises(errors.NotPrivileged):
            Manager.direct()
        tell(listener)


@inside
def test_ctrl_c_ends_a_wait_for_the_broker_which_gives_the_subflow_up() -> None:
    hosts = Hosts(2)
    ip(f"neigh add {NOBODY} lladdr 02:00:00:00:00:77 dev eth2")
    client, _server = hosts.connect()
    with _broker():
        _drop_capabilities()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            subflow.open_subflow(client, "10.0.2.2", NOBODY, timeout=600)
        wait_for("its end", lambda: len(subflow.connection(client).subflows) == 1, 20)
        assert subflow.open_subflow(client, "10.0.2.2") in subflow.subflow_ids(client)


@inside
def test_who_has_neither_privilege_nor_a_broker_is_told_what_to_do() -> None:
    hosts = Hosts(2)
    client, _server = hosts.connect()
    _drop_capabilities()
    os.environ["MPTCPLAB_BROKER"] = "/nowhere/broker.sock"
    with pytest.raises(errors.NoBroker, match="no broker at /nowhere"):
        subflow.open_subflow(client, "10.0.2.2")
    # Answers that anybody may have he is given all the same.
    (initial,) = subflow.subflow_ids(client)
    assert subflow.subflow_getsockopt(client, initial, socket.IPPROTO_TCP, socket.TCP_INFO, 1)
