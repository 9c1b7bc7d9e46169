//! How it ends, and when data came.

use super::dsl::*;
use crate::Kind::*;
use crate::{Side, TcpEnd};

#[test]
fn it_ends_when_both_have_said_so() {
    let mut tape = Tape::new();
    tape.segments(10, 0..1);
    let fin = data(1001..1001).flags(|flags| flags.fin = true);
    assert_eq!(tape.kind(20, fin), New);
    assert_eq!(tape.summary().end, TcpEnd::Open);
    let verdict = tape.take(30, ack(1002));
    assert_eq!(
        (verdict.newly_acknowledged_bytes, verdict.in_flight_bytes),
        (1000, 0)
    );
    let other = ack(1002).flags(|flags| flags.fin = true);
    assert_eq!(tape.kind(40, other), New);
    let verdict = tape.take(50, data(1002..1002).acknowledging(Some(2)));
    assert_eq!(
        (verdict.kind, verdict.newly_acknowledged_bytes),
        (Acknowledgement, 0)
    );
    let summary = tape.summary();
    assert_eq!(summary.end, TcpEnd::Fin);
    assert_eq!(
        (summary.client.fin_ns, summary.client.fin_acknowledged_ns),
        (Some(20), Some(30))
    );
    assert_eq!(
        (summary.server.fin_ns, summary.server.fin_acknowledged_ns),
        (Some(40), Some(50))
    );
    // Whatever comes then does not change it.
    tape.take(60, ack(2).flags(|flags| flags.rst = true));
    assert_eq!(tape.summary().end, TcpEnd::Fin);
    assert_eq!(tape.summary().server.reset_ns, Some(60));
}

#[test]
fn a_reset_tells_nothing_but_the_end() {
    let mut tape = Tape::new();
    tape.segments(0, 0..2);
    let reset = ack(900_000).flags(|flags| flags.rst = true).window(0);
    let verdict = tape.take(5, reset);
    assert_eq!((verdict.kind, verdict.window_bytes), (New, None));
    assert_eq!(
        (verdict.newly_acknowledged_bytes, verdict.in_flight_bytes),
        (0, 0)
    );
    let summary = tape.summary();
    assert_eq!(summary.end, TcpEnd::Reset);
    assert_eq!(summary.server.reset_ns, Some(5));
    assert_eq!(summary.client.zero_windows, 0);
    assert_eq!(tape.take(6, acks(2)).newly_acknowledged_bytes, 2000);
}

#[test]
fn a_fin_may_come_before_the_data_it_ends() {
    let mut tape = Tape::new();
    let fin = data(1001..2001).flags(|flags| flags.fin = true);
    assert_eq!(tape.kind(0, fin), New);
    assert_eq!(tape.kind(10, segment(0)), OutOfOrder);
    let sent = tape.summary().client;
    assert_eq!((sent.bytes, sent.in_flight_max_bytes), (2000, 2000));
    assert_eq!(tape.take(20, ack(2002)).newly_acknowledged_bytes, 2000);
}

#[test]
fn a_fin_that_was_lost_before_the_capture_is_sent_again() {
    let mut tape = Tape::new();
    tape.segments(0, 0..2);
    // Its number shows that the FIN has been sent.
    let verdict = tape.take(10, data(2002..2002));
    assert_eq!((verdict.kind, verdict.new_bytes), (Acknowledgement, 0));
    let fin = data(2001..2001).flags(|flags| flags.fin = true);
    assert_eq!(tape.kind(300 * MS, fin), TimeoutRetransmission);
    assert_eq!(tape.take(301 * MS, ack(2002)).in_flight_bytes, 0);
    let sent = tape.summary().client;
    assert_eq!((sent.retransmissions, sent.bytes), (1, 2000));
    // So it is with data.
    let mut tape = Tape::new();
    tape.segments(0, 0..1);
    assert_eq!(tape.take(10, data(2001..2001)).in_flight_bytes, 2000);
    assert_eq!(tape.kind(300 * MS, segment(1)), TimeoutRetransmission);
    // An acknowledgement that has overtaken it shows nothing but that.
    let mut tape = Tape::new();
    tape.segments(0, 0..1);
    tape.take(10 * MS, data(1002..1002).stamps(7, 0));
    let fin = data(1001..1001)
        .flags(|flags| flags.fin = true)
        .stamps(6, 0);
    assert_eq!(tape.kind(300 * MS, fin), OutOfOrder);
}

#[test]
fn the_longest_silence_is_that_between_data() {
    let mut tape = Tape::new();
    assert_eq!(tape.summary().client.idle_max_ns, None);
    tape.segments(10, 0..1);
    tape.segments(30, 1..2);
    tape.take(500, data(2001..2001));
    tape.take(600, segment(1));
    tape.segments(900, 2..3);
    let sent = tape.summary().client;
    assert_eq!(
        (sent.first_data_ns, sent.last_data_ns),
        (Some(10), Some(900))
    );
    assert_eq!((sent.idle_max_ns, sent.idle_at_ns), (Some(570), Some(30)));
    assert_eq!(tape.summary().sent(Side::Server).first_data_ns, None);
}

#[test]
fn marks_of_congestion_are_counted_for_their_sender() {
    let mut tape = Tape::new();
    let mut marked = tape.captured(0, &segment(0));
    marked.ecn = mptcplab_wire::Ecn::CongestionExperienced;
    tape.subflow.take(&marked, Side::Client);
    assert_eq!(tape.summary().client.ecn_marked, 1);
    assert_eq!(tape.summary().server.ecn_marked, 0);
}
