//! Relative numbers, in mid-connection and where things are captured in another order.

use super::dsl::*;
use crate::Kind::*;
use crate::Side;

#[test]
fn the_handshake_has_numbers_0_and_1() {
    let mut tape = Tape::with_initial(u32::MAX, 7);
    let verdict = tape.take(0, syn());
    assert_eq!((verdict.sequence, verdict.acknowledgement), (0, None));
    assert_eq!(
        (verdict.in_flight_bytes, verdict.window_bytes),
        (0, Some(1000))
    );
    let verdict = tape.take(10, syn_ack());
    assert_eq!((verdict.sequence, verdict.acknowledgement), (0, Some(1)));
    assert_eq!(
        (verdict.newly_acknowledged_bytes, verdict.new_bytes),
        (0, 0)
    );
    let verdict = tape.take(25, data(1..1));
    assert_eq!((verdict.sequence, verdict.acknowledgement), (1, Some(1)));
    assert_eq!(
        (verdict.kind, verdict.window_bytes),
        (Acknowledgement, Some(8000))
    );
    let verdict = tape.take(30, segment(0));
    assert_eq!((verdict.sequence, verdict.in_flight_bytes), (1, 1000));
    let verdict = tape.take(40, acks(1));
    assert_eq!(verdict.acknowledgement, Some(1001));
    assert_eq!(verdict.newly_acknowledged_bytes, 1000);
    let summary = tape.summary();
    assert_eq!(summary.handshake_rtt_ns, Some(25));
    assert_eq!(
        (summary.client.mss, summary.client.window_shift),
        (Some(1000), Some(3))
    );
    assert_eq!(summary.client.window_max_bytes, Some(8000));
}

#[test]
fn in_mid_connection_the_first_byte_seen_is_number_1() {
    let mut tape = Tape::blank();
    let verdict = tape.take(0, data(70_001..71_001).acknowledging(Some(9_001)));
    assert_eq!((verdict.sequence, verdict.acknowledgement), (1, Some(1)));
    assert_eq!(
        (verdict.window_bytes, verdict.in_flight_bytes),
        (None, 1000)
    );
    let late = tape.take(1, data(69_001..70_001).acknowledging(Some(9_001)));
    assert_eq!(
        (late.kind, late.sequence, late.new_bytes),
        (OutOfOrder, -999, 1000)
    );
    let again = tape.take(2, data(69_001..70_001).acknowledging(Some(9_001)));
    assert_eq!((again.kind, again.new_bytes), (TimeoutRetransmission, 0));
    let answer = tape.take(
        3,
        data(9_001..9_101)
            .from(Side::Server)
            .acknowledging(Some(71_001)),
    );
    assert_eq!((answer.sequence, answer.acknowledgement), (1, Some(1001)));
    assert_eq!((answer.kind, answer.newly_acknowledged_bytes), (New, 1000));
    assert_eq!(tape.summary().client.bytes, 2000);
}

#[test]
fn a_syn_may_be_captured_after_its_answer() {
    let mut tape = Tape::blank();
    assert_eq!(tape.take(0, syn_ack()).acknowledgement, Some(1));
    let verdict = tape.take(1, syn());
    assert_eq!(
        (verdict.kind, verdict.sequence, verdict.new_bytes),
        (New, 0, 0)
    );
    tape.take(2, data(1..1));
    tape.segments(3, 0..3);
    assert_eq!(tape.take(4, acks(3)).window_bytes, Some(8000));
    let sent = tape.summary().client;
    assert_eq!(
        (sent.bytes, sent.retransmissions, sent.out_of_order),
        (3000, 0, 0)
    );
}

#[test]
fn an_acknowledgement_may_be_captured_before_its_data() {
    let mut tape = Tape::new();
    tape.segments(0, 0..2);
    let verdict = tape.take(MS, acks(4));
    assert_eq!(
        (verdict.newly_acknowledged_bytes, verdict.rtt),
        (4000, None)
    );
    let verdict = tape.take(MS, segment(2));
    assert_eq!((verdict.kind, verdict.new_bytes), (New, 1000));
    assert_eq!(verdict.in_flight_bytes, 0);
    tape.segments(MS, 3..5);
    let verdict = tape.take(3 * MS, acks(5));
    assert_eq!(verdict.rtt, Some((crate::RttMethod::Karn, 2 * MS)));
    let sent = tape.summary().client;
    assert_eq!((sent.bytes, sent.in_flight_max_bytes), (5000, 2000));
}

#[test]
fn a_syn_that_begins_anew_is_another() {
    let mut tape = Tape::blank();
    tape.take(0, syn());
    let mut other = tape.captured(1, &syn());
    other.sequence = 77;
    let verdict = tape.subflow.take(&other, Side::Client);
    assert_eq!((verdict.kind, verdict.sequence), (New, 0));
    other.flags.syn = false;
    other.sequence = 78;
    other.payload_bytes = 10;
    let verdict = tape.subflow.take(&other, Side::Client);
    assert_eq!(
        (verdict.kind, verdict.sequence, verdict.new_bytes),
        (New, 1, 10)
    );
    // Once there are data it is of no account.
    let verdict = tape.take(2, syn());
    assert_eq!((verdict.kind, verdict.new_bytes), (New, 0));
    assert_eq!(tape.summary().client.bytes, 10);
}

#[test]
fn with_one_way_only_numbers_go_on_past_the_sequence_space() {
    let mut tape = Tape::blank();
    tape.take(0, acks(0));
    let step = 1 << 29;
    for n in 1..=20 {
        let verdict = tape.take(n, ack(1 + n * step));
        assert_eq!(verdict.acknowledgement, Some(1 + n * step));
        assert_eq!(verdict.newly_acknowledged_bytes, 1 << 29);
    }
    let verdict = tape.take(30, data(1 + 20 * step..101 + 20 * step));
    assert_eq!((verdict.sequence, verdict.new_bytes), (1 + 20 * step, 100));
}

#[test]
fn what_no_window_allows_is_not_acknowledged() {
    let mut tape = Tape::new();
    tape.segments(0, 0..1);
    let verdict = tape.take(1, ack(1 + (1 << 31) - 1));
    assert_eq!(
        (verdict.newly_acknowledged_bytes, verdict.in_flight_bytes),
        (0, 0)
    );
    assert_eq!(tape.take(2, acks(1)).newly_acknowledged_bytes, 1000);
}
