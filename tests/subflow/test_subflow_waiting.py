"""Waiting: with other threads, with Ctrl-C, with selectors, and in forked processes."""

import os
import selectors
import signal
import threading

import pytest
from tests.subflow.hosts import Hosts, ip
from tests.subflow.inside import inside

from mptcplab import subflow
from mptcplab.subflow import EventKind, Manager, SubflowError, errors

NOBODY = "10.0.2.77"
"""An address of link 2 behind which nobody is, so that nobody answers."""


def _with_nobody() -> Hosts:
    hosts = Hosts(2)
    ip(f"neigh add {NOBODY} lladdr 02:00:00:00:00:77 dev eth2")
    return hosts


@inside
def test_ctrl_c_ends_a_wait_for_a_subflow_and_gives_it_up() -> None:
    hosts = _with_nobody()
    client, _server = hosts.connect()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        subflow.open_subflow(client, "10.0.2.2", NOBODY, timeout=600)
    assert len(subflow.connection(client).subflows) == 1
    assert subflow.open_subflow(client, "10.0.2.2") in subflow.subflow_ids(client)


@inside
def test_ctrl_c_ends_a_wait_for_an_event() -> None:
    hosts = Hosts(1)
    client, _server = hosts.connect()
    with subflow.events(client) as events:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            events.next()
        assert not events.ended


@inside
def test_who_waits_keeps_no_other_thread_from_its_orders() -> None:
    hosts = _with_nobody()
    client, _server = hosts.connect()
    failed: list[SubflowError] = []

    def in_vain() -> None:
        with pytest.raises(errors.TimedOut) as raised:
            subflow.open_subflow(client, "10.0.2.2", NOBODY, timeout=3)
        failed.append(raised.value)

    waiting = threading.Thread(target=in_vain)
    waiting.start()
    while len(subflow.connection(client).subflows) < 2:
        pass
    opened = [subflow.open_subflow(client, "10.0.2.2") for _ in range(5)]
    assert waiting.is_alive()
    waiting.join()
    assert len(failed) == 1
    assert subflow.subflow_ids(client)[1:] == opened


@inside
def test_events_are_iterated_until_the_connection_ends() -> None:
    hosts = Hosts(2)
    client, server = hosts.connect()
    events = subflow.events(client)
    selector = selectors.DefaultSelector()
    selector.register(events, selectors.EVENT_READ)
    assert selector.select(0) == []
    assert events.next(0) is None
    second = subflow.open_subflow(client, "10.0.2.2")
    assert selector.select(5)
    event = events.next(0)
    assert event is not None
    assert (event.kind, event.subflow) == (EventKind.SUBFLOW_ESTABLISHED, second)
    client.close()
    server.close()
    assert [event.kind for event in events][-1] is EventKind.CLOSED
    assert events.ended
    assert events.next() is None


@inside
def test_a_watch_is_closed_while_another_thread_waits_for_its_events() -> None:
    hosts = Hosts(1)
    client, _server = hosts.connect()
    events = subflow.events(client)
    seen: list[object] = []
    waiting = threading.Thread(target=lambda: seen.extend(events))
    waiting.start()
    events.close()
    waiting.join()
    assert seen == []
    with pytest.raises(ValueError, match="closed"):
        events.fileno()


@inside
def test_a_forked_process_has_a_manager_of_its_own() -> None:
    hosts = Hosts(2)
    client, _server = hosts.connect()
    subflow.open_subflow(client, "10.0.2.2")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            subflow.open_subflow(client, "10.0.2.2")
            status = 0
        finally:
            os._exit(status)
    opened = subflow.open_subflow(client, "10.0.2.2")
    assert os.waitpid(child, 0) == (child, 0)
    assert len(subflow.subflow_ids(client)) == 4
    assert opened in subflow.subflow_ids(client)


@inside
def test_managers_say_which_they_are_and_why_they_are_not() -> None:
    assert repr(Manager.direct()) == "<Manager: direct>"
    with pytest.raises(errors.NoBroker) as raised:
        Manager.broker("/nowhere/broker.sock")
    assert raised.value.path == "/nowhere/broker.sock"
    assert raised.value.reason == "No such file or directory"
