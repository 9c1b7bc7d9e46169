"""Sessions: where they stop, what they show, and how they go back."""

import dataclasses

import pytest

import mptcplab
from mptcplab.debugger import DebugError, Session, debug
from mptcplab.debugger.state import End, Subflow
from mptcplab.scenario import ScenarioError, loads

WIFI = "links[wifi].directions[0].queued_bytes"


@pytest.fixture
def session() -> Session:
    """`lisbon/A1` over MPTCP: an upload, 45 Mbit/s over WiFi and 100 Mbit/s over Ethernet."""
    return debug("lisbon/A1", variant="mptcp", duration="2 s")


def test_the_package_opens_a_session() -> None:
    opened = mptcplab.debug("lisbon/A1", variant="tcp-wifi", seed=3)
    assert (opened.now_ns, opened.step_number, len(opened.connections)) == (0, 0, 0)
    assert opened.run_until("1 ms").reason == "time"
    assert opened.connections[0].protocol == "tcp"


def test_it_runs_to_a_time_and_shows_a_connection_from_its_sender(session: Session) -> None:
    stop = session.run_until("500 ms")
    assert (stop.reason, stop.now_ns, session.now_ns) == ("time", 500_000_000, 500_000_000)
    connection = session.connections[0]
    assert (connection.sender, connection.traffic) == ("client", "bulk")
    assert connection.client is not None
    assert connection.server is not None
    assert connection.subflows == connection.client.subflows
    assert len(connection.subflows) == 2
    assert connection.snd_una <= connection.server.rcv_nxt <= connection.snd_nxt
    value = session.value("connections[0].subflows[1].cwnd_bytes")
    assert connection.subflows[1].cwnd_bytes == value > 0
    assert session.value("connections[0].server.reassembly_bytes") == (
        connection.server.reassembly_bytes
    )
    assert session.value("connections[0].subflows[7].cwnd_bytes") is None


def test_every_field_of_the_classes_is_a_name_of_conditions(session: Session) -> None:
    session.run_until("500 ms")
    for kind, begin in ((Subflow, "connections[0].subflows[0]"), (End, "connections[0]")):
        names = [one.name for one in dataclasses.fields(kind)]
        for name in set(names) - {"timers_ns", "subflows", "scheduler"}:
            found = (
                session.connections[0].subflows[0] if kind is Subflow else session.connections[0]
            )
            assert session.value(f"{begin}.{name}") == getattr(found, name)


def test_a_condition_stops_at_the_event_that_makes_it_hold(session: Session) -> None:
    condition = "connections[0].server.reassembly_bytes > 20 kB"
    stop = session.run_until(condition)
    assert (stop.reason, stop.at) == ("condition", condition)
    assert session.value("connections[0].server.reassembly_bytes") > 20_000
    again = session.run_until(condition)
    assert again.step == stop.step
    session.back()
    assert not session.holds(condition)


def test_conditions_are_joined_by_and_and_or(session: Session) -> None:
    session.run_until("500 ms")
    yes, no = "now_ns >= 500 ms", "connections.count > 5"
    assert session.holds(f"{yes} and connections.count == 1")
    assert session.holds(f"{no} or {yes} and {yes}")
    assert not session.holds(f"{yes} and {no}")
    assert session.holds("connections[0].subflows[0].state == ESTABLISHED")
    assert session.holds("connections[0].subflows[0].state != 'LAST-ACK'")
    assert session.holds("connections[0].client.snd_una <= connections[0].server.rcv_nxt")
    assert session.holds("connections[3].token == none")
    assert not session.holds("connections[3].token < 5")


def test_it_stops_where_a_subflow_is_opened_and_shows_the_packet(session: Session) -> None:
    session.break_on("subflow opened of connection 0 at client")
    assert session.run().happenings[0].kind == "connection opened"
    stop = session.run()
    opened = next(one for one in stop.happenings if one.kind == "subflow opened")
    assert (opened.connection, opened.subflow, opened.host) == (0, 1, "client")
    assert any("MP_JOIN" in one.text for one in stop.happenings if one.kind == "packet")
    assert session.connections[0].subflows[1].stage == "opening"
    (packet,) = session.links["eth"].directions[0].packets
    assert "SYN" in packet.packet


def test_it_steps_by_events_and_by_packets_and_back(session: Session) -> None:
    session.run_until("300 ms")
    begin = session.state()
    seen = []
    for _ in range(5):
        stop = session.step("packet on wifi")
        assert any(one.link == "wifi" for one in stop.happenings)
        seen.append((stop.step, session.state()))
    for count in (1, 2, 3):
        session.step("packet on wifi")
        session.back(count + 1, "packet on wifi")
        assert (session.step_number, session.state()) == seen[4 - count]
        session.run_until(seen[4][1]["now_ns"])
        while session.step_number < seen[4][0]:
            session.step()
    session.back_to("300 ms")
    assert session.state() == begin
    session.step(count=20)
    session.back(20)
    session.back_to("300 ms")
    assert session.state() == begin


def test_branches_go_on_without_each_other(session: Session) -> None:
    session.run_until("300 ms")
    branch = session.branch()
    session.drop("eth", packets=10)
    session.run_until("1 s")
    branch.run_until("1 s")
    again = "connections[0].subflows[1].retransmissions"
    assert session.value(again) >= branch.value(again) + 3


def test_packets_are_delayed_and_duplicated_and_a_scheduler_exchanged(session: Session) -> None:
    session.run_until("300 ms")
    unchanged = session.branch()
    sent = "links[eth].directions[0].offered_packets"
    session.delay("eth", "20 ms", packets=5)
    for one in (session, unchanged):
        one.run_until("310 ms")
    assert session.value(sent) < unchanged.value(sent)
    session.duplicate("eth", direction=1, packets=3)
    session.use_scheduler("client", "redundant")
    assert session.connections[0].scheduler == "Redundant"
    session.run_until("1 s")
    assert session.value("connections[0].client.bytes_acked") > 0
    with pytest.raises(DebugError, match="soon"):
        session.delay("eth", "soon")
    with pytest.raises(DebugError, match="the directions 0 and 1, not 2"):
        session.drop("eth", direction=2)
    with pytest.raises(DebugError, match="ap is no host"):
        session.use_scheduler("ap", "blest")
    with pytest.raises(DebugError, match="no scheduler"):
        session.use_scheduler("client", "fastest")


def test_an_event_happens_and_becomes_part_of_the_scenario(session: Session) -> None:
    session.run_until("500 ms")
    session.do({"link": "eth", "change": {"rate": "10 Mbit/s"}})
    session.run_until("1 s")
    assert session.links["eth"].directions[0].rate_bps == 10_000_000
    session.do({"carrier": "wifi", "up": False})
    changed = session.run_until("1500 ms")
    state = session.state()
    saved = loads(session.scenario_text())
    assert [(event.at, event.link, event.carrier) for event in saved.events] == [
        (500_000_000, "eth", None), (1_000_000_000, None, "wifi"),
    ]  # fmt: skip
    # A run of the saved scenario is the same, but for the events of the simulator that it takes.
    other = debug(saved, variant="mptcp")
    other.run_until("1500 ms")
    assert other.state()["connections"] == state["connections"]
    session.back_to("400 ms")
    session.run_until("1500 ms")
    assert session.state() == state
    assert changed.now_ns == session.now_ns


def test_a_saved_moment_is_the_same_in_another_session(session: Session) -> None:
    session.run_until("700 ms")
    other = debug("lisbon/A1", variant="mptcp", duration="2 s")
    other.run()
    assert other.has_ended
    other.back_to("700 ms")
    assert other.state() == session.state()


@pytest.mark.parametrize(
    ("until", "why"),
    [
        ("sometime", "as decisions there are scheduler choice"),
        ("connections[0].cwnd < 5", 'a connection has no "cwnd"; it has node, protocol'),
        ("connections[0].rcv_wnd_bytes < 5 s", 'unknown unit "s": known: B, kB'),
        ("conections[0].token == 1", 'did you mean "connections"?'),
        ("packet on wlan", 'there is no link "wlan"; there are wifi, lan, eth'),
        ("packet onto wifi", "write packet, packet on LINK, or packet at HOST"),
        ("retransmission on wifi", "retransmission of connection 0"),
        ("5 parsecs", "a time"),
    ],
)
def test_what_cannot_be_read_is_refused_with_how_to_write_it(
    session: Session, until: str, why: str
) -> None:
    with pytest.raises(DebugError) as raised:
        session.run_until(until)
    assert why in str(raised.value)
    assert session.step_number == 0


def test_what_is_not_there_is_refused(session: Session) -> None:
    with pytest.raises(DebugError, match="there were 0 events so far, not 1"):
        session.back()
    with pytest.raises(DebugError, match="there is no such stop before"):
        session.back_until("retransmission")
    with pytest.raises(IndexError, match="0 were opened so far"):
        session.connections[0]
    with pytest.raises(DebugError, match="there is no link 'wlan'"):
        session.links["wlan"]
    with pytest.raises(ScenarioError, match="wlan"):
        session.do({"link": "wlan", "up": False})
    with pytest.raises(ScenarioError, match="variant"):
        debug("lisbon/A1", variant="mptpc")
    session.run_until("100 ms")
    with pytest.raises(DebugError, match="back_to goes there"):
        session.run_until("50 ms")
