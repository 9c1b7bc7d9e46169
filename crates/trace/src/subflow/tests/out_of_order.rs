//! Data that were not seen before, below others.

use super::dsl::*;
use crate::Kind::*;

#[test]
fn beside_the_sender_packets_change_places_for_a_moment() {
    let mut tape = Tape::new();
    assert_eq!(tape.kind(0, segment(1)), New);
    let verdict = tape.take(20_000, segment(0));
    assert_eq!((verdict.kind, verdict.new_bytes), (OutOfOrder, 1000));
    let sent = tape.summary().client;
    assert_eq!((sent.out_of_order, sent.retransmissions), (1, 0));
    assert_eq!((sent.bytes, sent.retransmitted_bytes), (2000, 0));
}

#[test]
fn beside_the_receiver_what_comes_a_round_trip_later_was_sent_again() {
    let mut tape = Tape::far_from_client(40 * MS);
    tape.segments(0, 0..1);
    tape.segments(MS, 2..6);
    tape.take(MS, acks(1).sack(&[(2, 6)]));
    assert_eq!(tape.clone().kind(40 * MS, segment(1)), OutOfOrder);
    let verdict = tape.take(42 * MS, segment(1));
    assert_eq!(
        (verdict.kind, verdict.new_bytes),
        (FastRetransmission, 1000)
    );
    let sent = tape.summary().client;
    assert_eq!((sent.bytes, sent.retransmitted_bytes), (6000, 1000));
    assert_eq!((sent.retransmissions, sent.out_of_order), (1, 0));
}

#[test]
fn beside_the_receiver_what_was_not_told_of_was_sent_again_by_a_timer() {
    let mut tape = Tape::far_from_client(40 * MS);
    tape.segments(0, 1..2);
    // The acknowledgement that tells of it is on another way.
    assert_eq!(tape.kind(300 * MS, segment(0)), TimeoutRetransmission);
}

#[test]
fn beside_the_receiver_a_timeout_shows_by_silence() {
    let mut tape = Tape::far_from_client(40 * MS);
    tape.segments(0, 1..4);
    tape.take(0, acks(0).sack(&[(1, 4)]));
    assert_eq!(tape.clone().kind(45 * MS, segment(0)), FastRetransmission);
    assert_eq!(tape.kind(181 * MS, segment(0)), TimeoutRetransmission);
}

#[test]
fn timestamps_tell_in_no_time() {
    let mut tape = Tape::new();
    assert_eq!(tape.kind(0, segment(1).stamps(50, 0)), New);
    assert_eq!(
        tape.clone().kind(500 * MS, segment(0).stamps(49, 0)),
        OutOfOrder
    );
    tape.take(0, acks(0).sack(&[(1, 2)]));
    assert_eq!(tape.kind(1, segment(0).stamps(51, 0)), FastRetransmission);
}

#[test]
fn identifications_tell_where_timestamps_are_equal() {
    let mut tape = Tape::new();
    for n in 0..9 {
        tape.take(0, segment(n).id(100 + n as u16));
    }
    tape.take(0, segment(10).id(110));
    assert_eq!(tape.clone().kind(500 * MS, segment(9).id(109)), OutOfOrder);
    tape.take(0, acks(9).sack(&[(10, 11)]));
    assert_eq!(tape.kind(1, segment(9).id(111)), FastRetransmission);
}

#[test]
fn holes_are_filled_piece_by_piece() {
    let mut tape = Tape::new();
    tape.segments(0, 4..5);
    assert_eq!(tape.take(1, segment(2)).new_bytes, 1000);
    assert_eq!(tape.take(1, data(501..2501)).new_bytes, 1500);
    let all = tape.take(1, data(1..6001));
    assert_eq!(
        (all.kind, all.new_bytes),
        (TimeoutRetransmission, 500 + 1000 + 1000)
    );
    assert_eq!(tape.summary().client.bytes, 6000);
}
