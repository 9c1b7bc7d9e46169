"""Changes of packets: how they are read, and what they do."""

from typing import Any

import pytest

from mptcplab.debugger import DebugError, debug
from mptcplab.debugger.rewrite import parse_edit


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("seq += 1000", {"add": {"field": "seq", "value": 1000}}),
        ("dss.data_ack -= 0x10", {"subtract": {"field": "dss.data_ack", "value": 16}}),
        (" window=0 ", {"set": {"field": "window", "value": 0}}),
        ("flags = SYN|ACK", {"flags": {"set": 18, "clear": 255}}),
        ("flags += FIN", {"flags": {"set": 1, "clear": 0}}),
        ("flags -= PSH|CWR", {"flags": {"set": 0, "clear": 136}}),
        ("without mp_join", {"without": "mp_join"}),
        ("add_addr.address = 2001:db8::1", {"address": "2001:db8::1"}),
        ("payload[3] = ff00", {"payload": {"at": 3, "bytes": [255, 0]}}),
        ("payload = 61", {"payload": {"at": None, "bytes": [97]}}),
    ],
)
def test_a_change_is_read(text: str, read: dict[str, Any]) -> None:
    assert parse_edit(text) == read


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "write seq"),
        ("seq", "write seq"),
        ("seq == 5", "write seq"),
        ("seq = 1 2", "write seq"),
        ("seq = -1", "no number"),
        ("seq = ²", "no number"),
        ("seq = 18446744073709551616", "at most 64 bits"),
        ("seq[1] = 2", "only payload has places"),
        ("flags += SIN", "SYN"),
        ("without mp_joyn", "mp_join"),
        ("without", "no option can be taken out"),
        ("add_addr.address = here", "no address"),
        ("add_addr.address += 10.0.0.1", "write add_addr.address = ADDRESS"),
        ("payload = abc", "pairs of hexadecimal digits"),
        ("payload += ab", "pairs of hexadecimal digits"),
    ],
)
def test_a_change_that_means_nothing_is_told_in_a_line(text: str, why: str) -> None:
    with pytest.raises(DebugError) as refused:
        parse_edit(text)
    assert why in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_join_without_its_option_does_not_come_to_be() -> None:
    session = debug("lisbon/A1", variant="mptcp", duration="1 s")
    plain = session.branch()
    # Ethernet's first packet with the option is the SYN of the second subflow.
    session.rewrite("eth", "without mp_join", packets=10)
    for one in (session, plain):
        one.run_until("500 ms")
    assert len(plain.connections[0].subflows) == 2
    assert len(session.connections[0].subflows) == 1
    session.back_to("1 ms")
    session.run_until("500 ms")
    assert len(session.connections[0].subflows) == 1


def test_a_branch_has_its_own_changes() -> None:
    session = debug("lisbon/A1", variant="mptcp", duration="1 s")
    session.run_until("300 ms")
    branch = session.branch()
    session.rewrite("wifi", "seq += 100000", packets=3)
    session.reorder("wifi", behind=2, packets=2)
    received = "connections[0].server.bytes_received"
    for one in (session, branch):
        one.run_until("400 ms")
    again = session.value("connections[0].subflows[0].retransmissions")
    assert again > branch.value("connections[0].subflows[0].retransmissions")
    assert session.value(received) != branch.value(received)


def test_what_cannot_be_changed_is_refused() -> None:
    session = debug("lisbon/A1", variant="mptcp", duration="1 s")
    for change, why in (("sequence = 1", "there is no field"), ("window = 70000", "16 bits")):
        with pytest.raises(DebugError, match=why):
            session.rewrite("wifi", change)
    with pytest.raises(DebugError, match="nothing is to be changed"):
        session.rewrite("wifi")
    with pytest.raises(DebugError, match="give 1 or more"):
        session.reorder("wifi", behind=0)
    with pytest.raises(DebugError, match="the directions 0 and 1, not 2"):
        session.reorder("wifi", behind=1, direction=2)
