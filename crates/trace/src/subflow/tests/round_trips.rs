//! Round trips.

use super::dsl::*;
use crate::RttMethod::*;

#[test]
fn the_last_byte_that_is_acknowledged_counts() {
    let mut tape = Tape::new();
    for n in 0..4 {
        tape.take(n * MS, segment(n));
    }
    assert_eq!(tape.take(11 * MS, acks(2)).rtt, Some((Karn, 10 * MS)));
    // Within a segment, as where several were captured as one.
    assert_eq!(tape.take(13 * MS, ack(2501)).rtt, Some((Karn, 11 * MS)));
    assert_eq!(tape.take(14 * MS, acks(2)).rtt, None);
    assert_eq!(tape.take(16 * MS, acks(4)).rtt, Some((Karn, 13 * MS)));
    let sent = tape.summary().client;
    // With that of the SYN.
    assert_eq!(
        (sent.rtt_samples, sent.rtt_min_ns, sent.rtt_max_ns),
        (4, Some(0), Some(13 * MS))
    );
    assert_eq!(sent.rtt_mean_ns, Some(34 * MS / 4));
}

#[test]
fn what_was_sent_twice_gives_none_without_timestamps() {
    let mut tape = Tape::new();
    tape.segments(0, 0..2);
    tape.take(300 * MS, segment(0));
    assert_eq!(tape.take(310 * MS, acks(2)).rtt, None);
    tape.segments(320 * MS, 2..3);
    assert_eq!(tape.take(330 * MS, acks(3)).rtt, Some((Karn, 10 * MS)));
}

#[test]
fn an_echo_tells_which_transmission_arrived() {
    let mut tape = Tape::new();
    tape.take(0, segment(0).stamps(100, 0));
    tape.take(0, segment(1).stamps(100, 0));
    tape.take(300 * MS, segment(0).stamps(400, 0));
    let first = tape.clone().take(310 * MS, acks(1).stamps(0, 100)).rtt;
    assert_eq!(first, Some((Timestamp, 310 * MS)));
    let second = tape.clone().take(310 * MS, acks(1).stamps(0, 400)).rtt;
    assert_eq!(second, Some((Timestamp, 10 * MS)));
    let neither = tape.take(310 * MS, acks(1).stamps(0, 401)).rtt;
    assert_eq!(neither, None);
}

#[test]
fn an_echo_counts_for_what_it_acknowledges_first() {
    let mut tape = Tape::new();
    tape.segments(0, 0..4);
    tape.take(10 * MS, acks(0).sack(&[(1, 4)]));
    tape.take(10 * MS, segment(0).stamps(10, 0));
    // Three of the four had waited for the first.
    assert_eq!(
        tape.take(20 * MS, acks(4).stamps(0, 10)).rtt,
        Some((Timestamp, 10 * MS))
    );
    assert_eq!(tape.take(90 * MS, acks(4).stamps(0, 10)).rtt, None);
}

#[test]
fn what_waited_for_an_overtaken_packet_does_not_count() {
    let mut tape = Tape::new();
    tape.segments(0, 0..1);
    tape.segments(5 * MS, 1..3);
    tape.take(10 * MS, acks(0).sack(&[(1, 2)]));
    // Segment 0 arrives: its own time counts, not that of those that waited.
    assert_eq!(tape.take(20 * MS, acks(2)).rtt, Some((Karn, 20 * MS)));
    assert_eq!(tape.take(21 * MS, acks(3)).rtt, Some((Karn, 16 * MS)));
}

#[test]
fn a_stamp_from_before_gives_none() {
    let mut tape = Tape::new();
    tape.segments(MS, 0..1);
    assert_eq!(tape.take(0, acks(1)).rtt, None);
    assert_eq!(tape.summary().client.rtt_samples, 1);
}

#[test]
fn a_syn_sent_twice_has_none_unless_the_echo_tells() {
    let mut tape = Tape::blank();
    tape.take(0, syn().stamps(1, 0));
    tape.take(1000 * MS, syn().stamps(1001, 0));
    let mut without = tape.clone();
    assert_eq!(without.take(1020 * MS, syn_ack()).rtt, None);
    without.take(1020 * MS, data(1..1));
    assert_eq!(without.summary().handshake_rtt_ns, None);
    let verdict = tape.take(1020 * MS, syn_ack().stamps(7, 1001));
    assert_eq!(verdict.rtt, Some((Timestamp, 20 * MS)));
    tape.take(1021 * MS, data(1..1));
    assert_eq!(tape.summary().handshake_rtt_ns, Some(21 * MS));
}
