//! The state machine of RFC 9293, and what does not move it (RFC 5961).

mod harness;

use bytes::Bytes;
use harness::*;
use mptcplab_stack::{CloseReason, Event, SocketOptions};
use mptcplab_wire::Flags;

const RTT: u64 = 20 * MS;

fn pair() -> (Wire, [mptcplab_stack::ConnectionId; 2]) {
    let mut wire = Wire::new(RTT / 2, 1);
    let ids = wire.establish(SocketOptions::default());
    (wire, ids)
}

fn states(wire: &Wire, ids: [mptcplab_stack::ConnectionId; 2]) -> [&'static str; 2] {
    [
        wire.state(CLIENT, ids[CLIENT]),
        wire.state(SERVER, ids[SERVER]),
    ]
}

#[test]
fn an_orderly_close_passes_the_states_of_the_book_and_waits_a_minute() {
    let (mut wire, ids) = pair();
    let begin = wire.now;
    wire.shutdown(CLIENT, ids[CLIENT]);
    assert_eq!(states(&wire, ids), ["FIN-WAIT-1", "ESTABLISHED"]);
    wire.run_for(RTT / 2);
    assert_eq!(states(&wire, ids), ["FIN-WAIT-1", "CLOSE-WAIT"]);
    wire.run_for(RTT / 2);
    assert_eq!(states(&wire, ids), ["FIN-WAIT-2", "CLOSE-WAIT"]);
    wire.shutdown(SERVER, ids[SERVER]);
    assert_eq!(states(&wire, ids), ["FIN-WAIT-2", "LAST-ACK"]);
    wire.run_for(RTT / 2);
    assert_eq!(states(&wire, ids), ["TIME-WAIT", "LAST-ACK"]);
    wire.run_for(RTT / 2);
    assert_eq!(states(&wire, ids), ["TIME-WAIT", "CLOSED"]);
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::Finished));
    assert_eq!(wire.closed(SERVER), Some(CloseReason::Finished));
    wire.release(CLIENT, ids[CLIENT]);
    wire.release(SERVER, ids[SERVER]);
    assert!(wire.hosts[SERVER].is_idle());
    wire.run_until(begin + RTT + RTT / 2 + 60 * SECOND - 1);
    assert!(!wire.hosts[CLIENT].is_idle());
    wire.run_for(1);
    assert!(wire.hosts[CLIENT].is_idle());
}

#[test]
fn data_flows_on_against_a_closed_direction() {
    let (mut wire, ids) = pair();
    wire.shutdown(CLIENT, ids[CLIENT]);
    wire.run_for(RTT);
    let data = pattern(100_000);
    let (received, _) = wire.transfer(SERVER, ids, &data, 10 * SECOND);
    assert!(received == data);
    assert_eq!(states(&wire, ids), ["FIN-WAIT-2", "CLOSE-WAIT"]);
}

#[test]
fn both_may_close_at_once() {
    let (mut wire, ids) = pair();
    wire.shutdown(CLIENT, ids[CLIENT]);
    wire.shutdown(SERVER, ids[SERVER]);
    wire.run_for(RTT / 2);
    assert_eq!(states(&wire, ids), ["CLOSING", "CLOSING"]);
    wire.run_for(RTT / 2);
    assert_eq!(states(&wire, ids), ["TIME-WAIT", "TIME-WAIT"]);
}

#[test]
fn both_may_open_at_once() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.script(|_, _, _| Fate::Drop);
    let id = wire.connect(SocketOptions::default());
    let syn = wire.last_sent(CLIENT);
    let mut other = syn.clone();
    (other.source, other.destination) = (syn.destination, syn.source);
    other.sequence = 1000;
    wire.inject(CLIENT, &other);
    assert_eq!(wire.state(CLIENT, id), "SYN-RECEIVED");
    let answer = wire.last_sent(CLIENT);
    assert!(answer.flags.syn && answer.flags.ack);
    assert_eq!(answer.sequence, syn.sequence);
    assert_eq!(answer.acknowledgement, 1001);
    other.flags.ack = true;
    other.acknowledgement = syn.sequence.wrapping_add(1);
    wire.inject(CLIENT, &other);
    assert_eq!(wire.state(CLIENT, id), "ESTABLISHED");
    assert!(wire.events[CLIENT].contains(&Event::Connected { id }));
}

#[test]
fn nobody_listening_refuses_after_a_round_trip() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.connect(SocketOptions::default());
    wire.run_until(RTT - 1);
    assert_eq!(wire.closed(CLIENT), None);
    wire.run_until(RTT);
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::Refused));
}

#[test]
fn a_reset_counts_only_where_it_hits_exactly() {
    let (mut wire, ids) = pair();
    wire.write(SERVER, ids[SERVER], Bytes::from_static(b"x"));
    wire.run_for(RTT);
    let mut reset = wire.last_sent(SERVER);
    reset.payload = Bytes::new();
    reset.flags = Flags {
        rst: true,
        ..Flags::default()
    };
    let exact = reset.sequence.wrapping_add(1);
    // Outside the window: nothing. Within it: a challenge ACK.
    reset.sequence = exact.wrapping_sub(100_000);
    wire.sent.clear();
    wire.inject(CLIENT, &reset);
    assert_eq!(wire.sent.len(), 0);
    reset.sequence = exact.wrapping_add(100);
    wire.inject(CLIENT, &reset);
    assert_eq!(wire.sent.len(), 1);
    assert_eq!(wire.last_sent(CLIENT).acknowledgement, exact);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPChallengeACK"), 1);
    // No second challenge within half a second.
    wire.inject(CLIENT, &reset);
    assert_eq!(wire.sent.len(), 1);
    assert_eq!(wire.state(CLIENT, ids[CLIENT]), "ESTABLISHED");
    reset.sequence = exact;
    wire.inject(CLIENT, &reset);
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::Reset));
}

#[test]
fn a_syn_on_an_open_connection_is_challenged() {
    let (mut wire, ids) = pair();
    let mut syn = wire.hosts_segment(SERVER);
    syn.flags = Flags {
        syn: true,
        ..Flags::default()
    };
    wire.inject(CLIENT, &syn);
    assert_eq!(wire.state(CLIENT, ids[CLIENT]), "ESTABLISHED");
    let answer = wire.last_sent(CLIENT);
    assert!(answer.flags.ack && !answer.flags.syn && !answer.flags.rst);
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_challenged() {
    let (mut wire, ids) = pair();
    let mut segment = wire.hosts_segment(SERVER);
    segment.acknowledgement = segment.acknowledgement.wrapping_add(1);
    segment.payload = Bytes::from_static(b"forged");
    wire.inject(CLIENT, &segment);
    assert_eq!(wire.hosts[CLIENT].read(wire.now, ids[CLIENT], 100), None);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPChallengeACK"), 1);
}

#[test]
fn the_application_gone_data_is_answered_with_a_reset() {
    let (mut wire, ids) = pair();
    wire.release(CLIENT, ids[CLIENT]);
    wire.run_for(RTT);
    wire.write(SERVER, ids[SERVER], Bytes::from_static(b"too late"));
    wire.run_for(RTT);
    assert_eq!(wire.closed(SERVER), Some(CloseReason::Reset));
    assert!(wire.hosts[CLIENT].is_idle());
}

#[test]
fn an_orphan_in_fin_wait_2_lasts_a_minute() {
    let (mut wire, ids) = pair();
    let begin = wire.now;
    wire.release(CLIENT, ids[CLIENT]);
    wire.run_until(begin + RTT + 60 * SECOND - 1);
    assert!(!wire.hosts[CLIENT].is_idle());
    wire.run_for(1);
    assert!(wire.hosts[CLIENT].is_idle());
}

#[test]
fn unread_data_makes_a_release_a_reset() {
    let (mut wire, ids) = pair();
    wire.write(SERVER, ids[SERVER], Bytes::from_static(b"unread"));
    wire.run_for(RTT);
    wire.release(CLIENT, ids[CLIENT]);
    assert!(wire.last_sent(CLIENT).flags.rst);
    assert!(wire.hosts[CLIENT].is_idle());
}

#[test]
fn an_abort_ends_both_ends_at_once() {
    let (mut wire, ids) = pair();
    wire.hosts[CLIENT].abort(wire.now, ids[CLIENT]);
    wire.flush();
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::Aborted));
    wire.run_for(RTT / 2);
    assert_eq!(wire.closed(SERVER), Some(CloseReason::Reset));
}

#[test]
fn a_new_connection_may_take_the_place_of_one_in_time_wait() {
    let (mut wire, ids) = pair();
    wire.shutdown(SERVER, ids[SERVER]);
    wire.run_for(RTT);
    wire.shutdown(CLIENT, ids[CLIENT]);
    wire.run_for(RTT);
    assert_eq!(wire.state(SERVER, ids[SERVER]), "TIME-WAIT");
    wire.release(SERVER, ids[SERVER]);
    let mut syn = wire.last_sent(CLIENT);
    syn.flags = Flags {
        syn: true,
        ..Flags::default()
    };
    syn.sequence = syn.sequence.wrapping_add(100_000);
    wire.inject(SERVER, &syn);
    assert!(wire.last_sent(SERVER).flags.syn);
    assert_eq!(wire.hosts[SERVER].subflows(ids[SERVER]).len(), 0);
}

#[test]
fn half_open_connections_are_limited_and_forgotten() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.hosts[SERVER].listen(PORT, SocketOptions::default());
    wire.connect(SocketOptions::default());
    let mut syn = wire.last_sent(CLIENT);
    wire.script(|_, _, _| Fate::Drop);
    for port in 1..=5000 {
        syn.source.set_port(port);
        wire.inject(SERVER, &syn);
    }
    assert_eq!(wire.counter(SERVER, "TcpExtTCPReqQFullDrop"), 5000 - 4096);
    wire.run_for(100 * SECOND);
    assert!(wire.hosts[SERVER].is_idle());
    syn.source.set_port(9);
    wire.inject(SERVER, &syn);
    assert!(wire.last_sent(SERVER).flags.syn);
}

#[test]
fn a_segment_of_no_connection_is_answered_with_a_reset_that_fits() {
    let (mut wire, _) = pair();
    let mut stray = wire.hosts_segment(CLIENT);
    stray.source.set_port(9);
    wire.inject(SERVER, &stray);
    let reset = wire.last_sent(SERVER);
    assert!(reset.flags.rst && !reset.flags.ack);
    assert_eq!(reset.sequence, stray.acknowledgement);
    wire.sent.clear();
    stray.flags.rst = true;
    wire.inject(SERVER, &stray);
    assert!(wire.sent.is_empty());
}
