//! Retransmissions of data that were seen before.

use super::dsl::*;
use crate::Kind::*;

#[test]
fn duplicate_acknowledgements_make_it_fast() {
    let mut tape = Tape::new();
    tape.segments(0, 0..6);
    tape.take(10 * MS, acks(1));
    for n in 0..3 {
        tape.take(11 * MS + n, acks(1));
    }
    let verdict = tape.take(11 * MS + 3, segment(1));
    assert_eq!(verdict.kind, FastRetransmission);
    assert_eq!(verdict.new_bytes, 0);
    let sent = tape.summary().client;
    assert_eq!(sent.duplicate_acknowledgements, 3);
    assert_eq!((sent.retransmissions, sent.fast_retransmissions), (1, 1));
    assert_eq!(
        (sent.retransmitted_packets, sent.retransmitted_bytes),
        (1, 1000)
    );
    assert_eq!((sent.bytes, sent.payload_bytes), (6000, 7000));
}

#[test]
fn two_duplicates_tell_nothing() {
    let mut tape = Tape::new();
    tape.segments(0, 0..3);
    tape.take(10 * MS, acks(1));
    tape.take(10 * MS, acks(1));
    tape.take(10 * MS, acks(1));
    assert_eq!(tape.kind(20 * MS, segment(1)), TimeoutRetransmission);
}

#[test]
fn a_repair_without_sack_goes_on_until_all_is_acknowledged() {
    let mut tape = Tape::new();
    tape.segments(0, 0..8);
    for _ in 0..4 {
        tape.take(10 * MS, acks(1));
    }
    assert_eq!(tape.kind(10 * MS, segment(1)), FastRetransmission);
    // A partial acknowledgement: the next is lost too.
    tape.take(20 * MS, acks(4));
    assert_eq!(tape.kind(20 * MS, segment(4)), FastRetransmission);
    tape.take(30 * MS, acks(8));
    tape.segments(30 * MS, 8..10);
    assert_eq!(tape.kind(300 * MS, segment(8)), TimeoutRetransmission);
}

#[test]
fn one_block_of_sack_above_makes_it_fast() {
    let mut tape = Tape::new();
    tape.segments(0, 0..4);
    tape.take(10 * MS, acks(1).sack(&[(2, 3)]));
    // Told of: 1. Not told of: 3.
    assert_eq!(tape.clone().kind(10 * MS, segment(1)), FastRetransmission);
    assert_eq!(
        tape.clone().kind(10 * MS, segment(3)),
        TimeoutRetransmission
    );
    assert_eq!(tape.summary().client.sack_blocks, 1);
}

#[test]
fn silence_makes_it_a_timeout_and_what_follows_too() {
    let mut tape = Tape::new();
    tape.segments(0, 0..6);
    assert_eq!(tape.kind(201 * MS, segment(0)), TimeoutRetransmission);
    tape.take(211 * MS, acks(1));
    assert_eq!(tape.kind(211 * MS, segment(1)), TimeoutRetransmission);
    assert_eq!(tape.kind(211 * MS, segment(2)), TimeoutRetransmission);
    // Told of by SACK, but lost by the same timeout.
    tape.take(221 * MS, acks(3).sack(&[(4, 6)]));
    assert_eq!(tape.kind(221 * MS, segment(3)), TimeoutRetransmission);
    tape.take(231 * MS, acks(6));
    tape.segments(231 * MS, 6..9);
    tape.take(241 * MS, acks(6).sack(&[(7, 9)]));
    assert_eq!(tape.kind(241 * MS, segment(6)), FastRetransmission);
    let sent = tape.summary().client;
    assert_eq!(
        (sent.timeout_retransmissions, sent.fast_retransmissions),
        (4, 1)
    );
}

#[test]
fn a_repair_that_was_told_of_and_then_silent_is_by_timeout() {
    let mut tape = Tape::new();
    tape.segments(0, 0..6);
    tape.take(10 * MS, acks(1));
    tape.take(11 * MS, acks(1).sack(&[(2, 6)]));
    assert_eq!(tape.kind(11 * MS, segment(1)), FastRetransmission);
    // Lost again, found by RACK: fast again; lost again, found by the timer.
    assert_eq!(tape.kind(30 * MS, segment(1)), FastRetransmission);
    assert_eq!(tape.kind(240 * MS, segment(1)), TimeoutRetransmission);
}

#[test]
fn a_tail_loss_probe_is_a_timeout_but_begins_no_repair_by_timeout() {
    let mut tape = Tape::new();
    tape.segments(0, 0..6);
    tape.take(10 * MS, acks(2));
    assert_eq!(tape.kind(40 * MS, segment(5)), TimeoutRetransmission);
    tape.take(50 * MS, acks(2).sack(&[(5, 6)]));
    assert_eq!(tape.kind(50 * MS, segment(2)), FastRetransmission);
    assert_eq!(tape.kind(50 * MS, segment(3)), FastRetransmission);
}

#[test]
fn syn_and_fin_are_sent_again_by_timeout() {
    let mut tape = Tape::blank();
    assert_eq!(tape.kind(0, syn()), New);
    assert_eq!(tape.kind(1000 * MS, syn()), TimeoutRetransmission);
    assert_eq!(tape.kind(1010 * MS, syn_ack()), New);
    assert_eq!(tape.kind(2010 * MS, syn_ack()), TimeoutRetransmission);
    tape.take(2020 * MS, data(1..1));
    let fin = || data(1..101).flags(|flags| flags.fin = true);
    assert_eq!(tape.kind(2030 * MS, fin()), New);
    assert_eq!(tape.kind(2300 * MS, fin()), TimeoutRetransmission);
    let alone = data(101..101).flags(|flags| flags.fin = true);
    assert_eq!(tape.kind(2600 * MS, alone), TimeoutRetransmission);
    let sent = tape.summary().client;
    assert_eq!((sent.retransmissions, sent.retransmitted_packets), (3, 3));
    assert_eq!((sent.bytes, sent.retransmitted_bytes), (100, 100));
    assert_eq!(tape.summary().server.retransmissions, 1);
}

#[test]
fn a_retransmission_may_have_new_bytes() {
    let mut tape = Tape::new();
    tape.segments(0, 0..1);
    let verdict = tape.take(250 * MS, data(501..1501));
    assert_eq!(
        (verdict.kind, verdict.new_bytes),
        (TimeoutRetransmission, 500)
    );
    let sent = tape.summary().client;
    assert_eq!((sent.bytes, sent.retransmitted_bytes), (1500, 500));
}

#[test]
fn what_is_above_the_mtu_counts_as_its_packets() {
    let mut tape = Tape::new();
    assert_eq!(tape.kind(0, data(1..2501)), New);
    assert_eq!(tape.kind(0, data(2501..3501)), New);
    tape.take(10 * MS, ack(1).sack(&[(3, 4)]));
    // 1000 bytes of MSS without 40 of options: three packets.
    let mut segment = tape.captured(10 * MS, &data(1..2501));
    segment.packet_bytes += 40;
    let verdict = tape.subflow.take(&segment, crate::Side::Client);
    assert_eq!(verdict.kind, FastRetransmission);
    let sent = tape.summary().client;
    assert_eq!((sent.packets, sent.wire_packets), (5, 1 + 1 + 3 + 1 + 3));
    assert_eq!((sent.retransmissions, sent.retransmitted_packets), (1, 3));
    assert_eq!(sent.retransmitted_bytes, 2500);
}

#[test]
fn a_d_sack_tells_which_was_not_needed() {
    let mut tape = Tape::new();
    tape.segments(0, 0..4);
    tape.take(10 * MS, acks(1).sack(&[(2, 4)]));
    tape.take(10 * MS, segment(1));
    tape.take(20 * MS, acks(4));
    // Frames: 3 of the handshake, 4 segments, 1 acknowledgement; the ninth was sent again.
    let verdict = tape.take(21 * MS, acks(4).sack(&[(1, 2)]));
    assert_eq!(verdict.spurious_frame, Some(9));
    let verdict = tape.take(22 * MS, acks(4).sack(&[(1, 2)]));
    assert_eq!(verdict.spurious_frame, None);
    let sent = tape.summary().client;
    assert_eq!((sent.spurious_retransmissions, sent.dsack_blocks), (1, 2));
    assert_eq!(sent.sack_blocks, 1);
}

#[test]
fn a_d_sack_may_lie_within_a_block() {
    let mut tape = Tape::new();
    tape.segments(0, 0..6);
    tape.take(10 * MS, acks(1).sack(&[(5, 6)]));
    assert_eq!(tape.kind(10 * MS, segment(3)), FastRetransmission);
    let verdict = tape.take(20 * MS, acks(1).sack(&[(3, 4), (2, 6)]));
    assert_eq!(verdict.spurious_frame, Some(11));
    let sent = tape.summary().client;
    assert_eq!((sent.sack_blocks, sent.dsack_blocks), (2, 1));
}

#[test]
fn what_was_sent_before_something_that_arrived_is_sent_again_fast() {
    let mut tape = Tape::new();
    tape.segments(0, 0..2);
    tape.take(10 * MS, acks(0).sack(&[(1, 2)]));
    tape.segments(10 * MS, 2..3);
    assert_eq!(
        tape.kind(11 * MS, segment(0).stamps(11, 0)),
        FastRetransmission
    );
    // The retransmission has arrived, and the segments before it have not.
    tape.take(21 * MS, acks(2).stamps(0, 11));
    assert_eq!(tape.kind(21 * MS, segment(2)), FastRetransmission);
}

/// Three segments, the first of which a timer sends again at 300 ms.
fn sent_again_by_timer() -> Tape {
    let mut tape = Tape::new();
    for n in 0..3 {
        tape.take(0, segment(n).stamps(1, 0));
    }
    assert_eq!(
        tape.kind(300 * MS, segment(0).stamps(301, 0)),
        TimeoutRetransmission
    );
    tape
}

#[test]
fn a_repair_by_timeout_ends_when_d_sack_tells_that_nothing_was_lost() {
    let mut tape = sent_again_by_timer();
    tape.take(310 * MS, acks(1).stamps(0, 301));
    let mut other = tape.clone();
    tape.take(311 * MS, acks(1).sack(&[(2, 3)]));
    assert_eq!(tape.kind(311 * MS, segment(1)), TimeoutRetransmission);
    other.take(311 * MS, acks(1).sack(&[(0, 1), (2, 3)]));
    assert_eq!(other.kind(311 * MS, segment(1)), FastRetransmission);
}

#[test]
fn a_repair_by_timeout_ends_when_an_older_timestamp_is_echoed() {
    let mut tape = sent_again_by_timer();
    let mut other = tape.clone();
    tape.take(310 * MS, acks(1).stamps(0, 301).sack(&[(2, 3)]));
    assert_eq!(tape.kind(310 * MS, segment(1)), TimeoutRetransmission);
    other.take(310 * MS, acks(1).stamps(0, 1).sack(&[(2, 3)]));
    assert_eq!(other.kind(310 * MS, segment(1)), FastRetransmission);
}

#[test]
fn payload_is_distinct_bytes_and_what_was_sent_again() {
    let mut tape = Tape::new();
    tape.segments(0, 0..1);
    // The second segment is lost before the capture, and repaired with the third.
    tape.segments(MS, 2..3);
    tape.take(20 * MS, acks(1).sack(&[(2, 3)]));
    assert_eq!(tape.kind(400 * MS, data(1001..3001)), TimeoutRetransmission);
    tape.take(420 * MS, acks(3));
    assert_eq!(tape.kind(5000 * MS, data(3000..3001)), KeepAlive);
    let sent = tape.summary().client;
    assert_eq!((sent.payload_bytes, sent.bytes), (4001, 3000));
    assert_eq!(
        (sent.retransmitted_bytes, sent.retransmitted_unseen_bytes),
        (2000, 1000)
    );
    assert_eq!(sent.probe_bytes, 1);
    assert_eq!(
        sent.payload_bytes,
        sent.bytes + sent.retransmitted_bytes - sent.retransmitted_unseen_bytes + sent.probe_bytes
    );
}

#[test]
fn the_pipe_leaves_out_what_has_arrived_and_what_is_lost() {
    let mut tape = Tape::new();
    tape.segments(0, 0..5);
    let verdict = tape.take(10 * MS, segment(5));
    assert_eq!((verdict.in_flight_bytes, verdict.pipe_bytes), (6000, 6000));
    tape.take(20 * MS, acks(1).sack(&[(2, 3)]));
    let verdict = tape.take(21 * MS, segment(6));
    assert_eq!((verdict.in_flight_bytes, verdict.pipe_bytes), (6000, 5000));
    // More than two segments above: the second is lost.
    tape.take(22 * MS, acks(1).sack(&[(2, 5)]));
    let verdict = tape.take(23 * MS, segment(7));
    assert_eq!((verdict.in_flight_bytes, verdict.pipe_bytes), (7000, 3000));
    let verdict = tape.take(24 * MS, segment(1));
    assert_eq!(verdict.kind, FastRetransmission);
    assert_eq!((verdict.in_flight_bytes, verdict.pipe_bytes), (7000, 4000));
    tape.take(40 * MS, acks(5));
    let verdict = tape.take(41 * MS, segment(8));
    assert_eq!((verdict.in_flight_bytes, verdict.pipe_bytes), (4000, 4000));
    assert_eq!(tape.summary().client.pipe_max_bytes, 6000);
}
