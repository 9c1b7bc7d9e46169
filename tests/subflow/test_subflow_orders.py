"""Orders given to the running kernel by the process itself."""

import errno
import ipaddress
import pickle
import socket
import struct
import subprocess

import pytest
from tests.subflow.hosts import Hosts, ip, mptcp
from tests.subflow.inside import inside, inside_as_root

from mptcplab import subflow
from mptcplab.subflow import EventKind, errors


def _opens_steers_and_closes(six: bool) -> None:
    hosts = Hosts(3)
    client, server = hosts.connect(six)
    second_address, third_address = ("fd00:2::2", "fd00:3::2") if six else ("10.0.2.2", "10.0.3.2")
    (initial,) = subflow.subflow_ids(client)
    with subflow.events(client) as events:

        def following() -> tuple[EventKind, int | None]:
            event = events.next(5)
            assert event is not None
            return event.kind, event.subflow

        second = subflow.open_subflow(client, second_address)
        assert following() == (EventKind.SUBFLOW_ESTABLISHED, second)
        address = ipaddress.ip_address(third_address)
        third = subflow.open_subflow(client, (address, 0), backup=True, interface="eth3")
        assert following() == (EventKind.SUBFLOW_ESTABLISHED, third)
        assert subflow.subflow_ids(client) == [initial, second, third]
        told = subflow.subflow_tuple(client, second)
        assert told.local.host == second_address
        assert told.remote == client.getpeername()[:2]
        assert (told.local_id, told.remote_id) == (1, 0)
        assert (told.state, told.backup) == ("ESTABLISHED", False)
        assert subflow.subflow_tuple(client, third).backup is True
        subflow.set_backup(client, third, False)
        assert subflow.subflow_tuple(client, third).backup is False
        (serving,) = [
            each.id
            for each in subflow.connection(server).subflows
            if each.remote.host == second_address
        ]
        hosts.server.manager.set_backup(server, serving, True)
        assert following() == (EventKind.PRIORITY_CHANGED, second)
        subflow.close_subflow(client, initial)
        assert following() == (EventKind.SUBFLOW_CLOSED, initial)
        subflow.close_subflow(client, second)
        assert following() == (EventKind.SUBFLOW_CLOSED, second)
        assert subflow.subflow_ids(client) == [third]
        client.sendall(b"over the third")
        assert server.recv(100) == b"over the third"
        with pytest.raises(errors.NoSuchSubflow) as raised:
            subflow.close_subflow(client, second)
        assert raised.value.id == second


@inside
def test_subflows_of_ipv4_are_opened_steered_and_closed() -> None:
    _opens_steers_and_closes(six=False)


@inside
def test_subflows_of_ipv6_are_opened_steered_and_closed() -> None:
    _opens_steers_and_closes(six=True)


@inside
def test_a_connection_is_told_with_its_counters() -> None:
    hosts = Hosts(2)
    client, server = hosts.connect()
    second = subflow.open_subflow(client, "10.0.2.2")
    client.sendall(bytes(1000))
    server.recv(1000, socket.MSG_WAITALL)
    told = subflow.connection(client)
    assert told.info.token == told.token
    assert told.info.bytes_sent == 1001
    assert told.info.bytes_received == 1
    assert [each.id for each in told.subflows] == subflow.subflow_ids(client)
    assert told.subflows[1].id == second
    assert told.subflows[1].local.ip == ipaddress.ip_address("10.0.2.2")
    assert sum(each.info.bytes_sent or 0 for each in told.subflows) >= 1001


@inside
def test_addresses_are_announced_and_withdrawn() -> None:
    hosts = Hosts(2)
    client, server = hosts.connect()
    with subflow.events(client) as events:
        offered = hosts.server.manager.announce(server, "10.0.2.1")
        event = events.next(5)
        assert event is not None
        assert event.kind is EventKind.ADDRESS_ANNOUNCED
        assert event.remote is not None
        assert (event.remote.host, event.remote_id) == ("10.0.2.1", offered)
        hosts.server.manager.withdraw(server, offered)
        event = events.next(5)
        assert event is not None
        assert (event.kind, event.remote_id) == (EventKind.ADDRESS_REMOVED, offered)
    own = subflow.announce(client, "10.0.2.2")
    subflow.withdraw(client, own)
    with pytest.raises(errors.NoSuchAddress) as raised:
        subflow.withdraw(client, own)
    assert raised.value.id == own


@inside
def test_what_cannot_be_opened_fails_with_its_reason() -> None:
    hosts = Hosts(2)
    client, _server = hosts.connect()
    port = client.getpeername()[1]

    with pytest.raises(errors.NotLocal) as not_local:
        subflow.open_subflow(client, "10.9.9.9")
    assert not_local.value.address == ("10.9.9.9", 0)
    assert not_local.value.errno == errno.EADDRNOTAVAIL
    assert str(not_local.value).startswith("10.9.9.9:0 is no address of this host")
    with pytest.raises(errors.NoInterface) as no_interface:
        subflow.open_subflow(client, "10.0.2.2", interface="wlan7")
    assert no_interface.value.name == "wlan7"
    with pytest.raises(errors.FamiliesDiffer) as differ:
        subflow.open_subflow(client, "10.0.2.2", ("fd00:2::1", 80))
    assert differ.value.remote == ("fd00:2::1", 80)
    with pytest.raises(errors.NoRoute) as no_route:
        subflow.open_subflow(client, "10.0.2.2", "192.0.2.1")
    assert no_route.value.remote == ("192.0.2.1", port)
    with pytest.raises(ConnectionRefusedError) as refused:
        subflow.open_subflow(client, "10.0.2.2", ("10.0.2.1", 9))
    assert isinstance(refused.value, errors.Refused)
    ip("neigh add 10.0.2.77 lladdr 02:00:00:00:00:77 dev eth2")
    with pytest.raises(TimeoutError) as timed_out:
        subflow.open_subflow(client, "10.0.2.2", "10.0.2.77", timeout=0.2)
    assert isinstance(timed_out.value, errors.TimedOut)
    assert timed_out.value.timeout == 0.2
    again = pickle.loads(pickle.dumps(timed_out.value))
    assert (type(again), str(again)) == (errors.TimedOut, str(timed_out.value))
    assert again.timeout == 0.2
    assert len(subflow.connection(client).subflows) == 1


@inside
def test_orders_about_other_sockets_are_refused() -> None:
    hosts = Hosts(1)
    client, _server = hosts.connect()
    with pytest.raises(errors.ForeignNamespace):
        hosts.server.manager.close_subflow(client, 1)
    with pytest.raises(errors.NotConnected):
        subflow.subflow_ids(mptcp())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain, pytest.raises(errors.NotMptcp):
        subflow.subflow_ids(plain)
    client.close()
    with pytest.raises(OSError, match="the socket is closed"):
        subflow.subflow_ids(client)


@inside
def test_tcp_info_of_a_subflow_is_as_the_socket_module_gives_it() -> None:
    hosts = Hosts(1)
    client, _server = hosts.connect()
    (initial,) = subflow.subflow_ids(client)
    question = socket.IPPROTO_TCP, socket.TCP_INFO
    whole = subflow.subflow_getsockopt(client, initial, *question, 1024)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        plain = socket.create_connection(listener.getsockname())
        assert len(whole) == len(plain.getsockopt(*question, 1024))
        plain.close()
    assert whole[0] == 1  # TCP_ESTABLISHED
    assert subflow.subflow_getsockopt(client, initial, *question, 8) == whole[:8]
    (number,) = struct.unpack("=i", whole[:4])
    assert subflow.subflow_getsockopt(client, initial, *question) == number
    with pytest.raises(OSError, match="out of range"):
        subflow.subflow_getsockopt(client, initial, *question, 1025)
    with pytest.raises(errors.NoSuchSubflow):
        subflow.subflow_getsockopt(client, 99, *question, 8)


@inside_as_root
def test_root_sets_an_option_of_one_subflow_without_a_broker() -> None:
    hosts = Hosts(2)
    client, _server = hosts.connect()
    second = subflow.open_subflow(client, "10.0.2.2")
    control = socket.IPPROTO_TCP, socket.TCP_CONGESTION
    subflow.subflow_setsockopt(client, second, *control, "cubic")
    names = [subflow.subflow_getsockopt(client, each, *control, 16) for each in (1, second)]
    assert [name.rstrip(b"\0") for name in names] == [b"reno", b"cubic"]
    # An independent witness.
    sockets = subprocess.run(
        ["ss", "--tcp", "--info", "--no-header", "--oneline", "src", "10.0.2.2"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert " cubic " in sockets.stdout
    with pytest.raises(errors.OptionRefused) as refused:
        subflow.subflow_setsockopt(client, second, socket.IPPROTO_TCP, 9999, 1)
    assert refused.value.option == 9999


@inside
def test_who_may_not_load_bpf_is_told_what_to_do() -> None:
    hosts = Hosts(1)
    client, _server = hosts.connect()
    with pytest.raises(errors.NeedsBpf, match="an option on one subflow needs BPF: "):
        subflow.subflow_setsockopt(client, 1, socket.SOL_SOCKET, socket.SO_MARK, 7)
