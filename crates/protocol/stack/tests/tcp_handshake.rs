//! Exact times of SYNs and SYN/ACKs that are sent again.

mod harness;

use harness::*;
use mptcplab_stack::{CloseReason, SocketOptions};
use mptcplab_wire::{Segment, Unreachable};

const RTT: u64 = 20 * MS;

/// A server that has the first SYN of a client, which is returned, and nothing after it.
fn server_whose_syn_acks_are_lost() -> (Wire, Segment) {
    let mut wire = Wire::new(0, 1);
    wire.hosts[SERVER].listen(PORT, SocketOptions::default());
    wire.script(|_, from, segment| {
        if from == SERVER || !segment.flags.syn {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    wire.connect(SocketOptions::default());
    let syn = wire.last_sent(CLIENT);
    wire.script(|_, _, _| Fate::Drop);
    (wire, syn)
}

#[test]
fn a_syn_is_sent_again_four_times_a_second_apart_then_doubling_for_131_seconds() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.script(|_, _, _| Fate::Drop);
    wire.connect(SocketOptions::default());
    wire.run_until(131 * SECOND - 1);
    let seconds: Vec<u64> = wire.times(CLIENT, 0).iter().map(|at| at / SECOND).collect();
    assert_eq!(seconds, [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67]);
    assert_eq!(wire.closed(CLIENT), None);
    wire.run_until(131 * SECOND);
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::TimedOut));
}

#[test]
fn a_syn_ack_is_sent_again_with_doubled_times_and_given_up_after_63_seconds() {
    let (mut wire, syn) = server_whose_syn_acks_are_lost();
    wire.run_until(63 * SECOND - 1);
    let seconds: Vec<u64> = wire.times(SERVER, 0).iter().map(|at| at / SECOND).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31]);
    assert!(!wire.hosts[SERVER].is_idle());
    wire.run_until(63 * SECOND);
    assert!(wire.hosts[SERVER].is_idle());
    assert!(syn.flags.syn);
}

/// The error of a router about a segment.
fn unreachable(segment: &Segment) -> Unreachable {
    Unreachable {
        source: segment.source,
        destination: segment.destination,
        sequence: segment.sequence,
    }
}

#[test]
fn a_routers_error_ends_a_connection_that_is_being_opened_and_no_other() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.script(|_, _, _| Fate::Drop);
    wire.connect(SocketOptions::default());
    let syn = wire.last_sent(CLIENT);
    let before = Segment {
        sequence: syn.sequence.wrapping_sub(1),
        ..syn.clone()
    };
    wire.hosts[CLIENT].on_unreachable(wire.now, &unreachable(&before));
    wire.flush();
    assert_eq!(wire.closed(CLIENT), None);
    wire.hosts[CLIENT].on_unreachable(wire.now, &unreachable(&syn));
    wire.flush();
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::Unreachable));
    assert_eq!(wire.counter(CLIENT, "TcpAttemptFails"), 1);

    let mut wire = Wire::new(RTT / 2, 1);
    let [client, _] = wire.establish(SocketOptions::default());
    wire.write(CLIENT, client, pattern(100));
    let data = wire.last_sent(CLIENT);
    wire.hosts[CLIENT].on_unreachable(wire.now, &unreachable(&data));
    wire.flush();
    assert_eq!(wire.closed(CLIENT), None);
}

#[test]
fn a_routers_error_ends_a_handshake_that_is_being_answered() {
    let (mut wire, _) = server_whose_syn_acks_are_lost();
    wire.run_until(SECOND);
    let answer = wire.last_sent(SERVER);
    wire.hosts[SERVER].on_unreachable(wire.now, &unreachable(&answer));
    wire.flush();
    assert!(wire.hosts[SERVER].is_idle());
}

/// `tcp_check_req` of Linux 6.18, net/ipv4/tcp_minisocks.c.
#[test]
fn a_repeated_syn_has_its_syn_ack_again_and_the_timer_starts_anew() {
    let (mut wire, syn) = server_whose_syn_acks_are_lost();
    wire.run_until(SECOND / 2);
    wire.inject(SERVER, &syn);
    wire.run_until(4 * SECOND);
    let halves: Vec<u64> = wire
        .times(SERVER, 0)
        .iter()
        .map(|at| at * 2 / SECOND)
        .collect();
    assert_eq!(halves, [0, 1, 3, 7]);
    assert_eq!(wire.counter(SERVER, "TcpRetransSegs"), 3);
    assert_eq!(wire.counter(SERVER, "TcpExtTCPTimeouts"), 2);
}
