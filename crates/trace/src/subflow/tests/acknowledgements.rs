//! Windows, probes and duplicates.

use mptcplab_wire::option::{DataNumber, Dss, MptcpOption};

use super::dsl::*;
use crate::Kind::*;
use crate::Side;

#[test]
fn a_duplicate_acknowledgement_changes_nothing_else() {
    let mut tape = Tape::new();
    tape.segments(0, 0..4);
    tape.take(MS, acks(1));
    tape.take(MS, acks(1).window(900));
    tape.take(MS, acks(1).window(900).from(Side::Server));
    let dss = MptcpOption::Dss(Dss {
        data_fin: false,
        acknowledgement: Some(DataNumber::Long(5)),
        mapping: None,
    });
    let prio = MptcpOption::Priority {
        backup: true,
        address_id: None,
    };
    tape.take(
        MS,
        acks(1)
            .window(900)
            .options(|options| options.mptcp.push(dss)),
    );
    tape.take(
        MS,
        acks(1)
            .window(900)
            .options(|options| options.mptcp.push(prio)),
    );
    let fin = acks(1).window(900).flags(|flags| flags.fin = true);
    tape.take(MS, fin);
    // With data, older, and with nothing under way.
    tape.take(
        MS,
        data(2..12)
            .from(Side::Server)
            .acknowledging(Some(1001))
            .window(900),
    );
    tape.take(MS, acks(0).window(900));
    tape.take(MS, acks(4).window(900));
    tape.take(MS, acks(4).window(900));
    assert_eq!(tape.summary().client.duplicate_acknowledgements, 2);
}

#[test]
fn a_keep_alive_is_no_retransmission() {
    let mut tape = Tape::new();
    tape.segments(0, 0..1);
    tape.take(10 * MS, acks(1));
    assert_eq!(tape.kind(20 * MS, data(1000..1000)), KeepAlive);
    assert_eq!(
        tape.clone().kind(500 * MS, data(1000..1001)),
        TimeoutRetransmission
    );
    assert_eq!(tape.kind(1010 * MS, data(1000..1001)), KeepAlive);
    tape.take(1011 * MS, acks(1));
    let sent = tape.summary().client;
    assert_eq!(
        (sent.keep_alives, sent.retransmissions, sent.bytes),
        (2, 0, 1000)
    );
    assert_eq!(
        (sent.payload_bytes, sent.duplicate_acknowledgements),
        (1001, 0)
    );
}

#[test]
fn a_keep_alive_may_be_the_first_that_is_seen() {
    let mut tape = Tape::blank();
    assert_eq!(tape.kind(0, data(5000..5000)), Acknowledgement);
    tape.take(MS, ack(5001));
    assert_eq!(tape.kind(1000 * MS, data(5000..5000)), KeepAlive);
}

#[test]
fn an_older_acknowledgement_is_no_keep_alive() {
    let mut tape = Tape::new();
    tape.take(0, data(1..2));
    assert_eq!(tape.kind(1, data(1..1)), Acknowledgement);
}

#[test]
fn a_closed_window_is_probed() {
    let mut tape = Tape::new();
    tape.segments(0, 0..2);
    let verdict = tape.take(MS, acks(2).window(0));
    assert_eq!(verdict.window_bytes, Some(0));
    assert_eq!(tape.kind(300 * MS, data(2000..2000)), WindowProbe);
    tape.take(301 * MS, acks(2).window(0));
    let verdict = tape.take(900 * MS, data(2001..2002));
    assert_eq!((verdict.kind, verdict.new_bytes), (WindowProbe, 1));
    tape.take(901 * MS, acks(2).window(0));
    tape.take(902 * MS, ack(2002));
    assert_eq!(tape.kind(903 * MS, data(2002..2003)), New);
    let sent = tape.summary().client;
    assert_eq!((sent.window_probes, sent.zero_windows), (2, 3));
    assert_eq!((sent.keep_alives, sent.retransmissions), (0, 0));
    assert_eq!(sent.bytes, 2002);
}

#[test]
fn without_its_scale_a_window_is_unknown_unless_it_is_closed() {
    let mut tape = Tape::blank();
    assert_eq!(tape.take(0, acks(1)).window_bytes, None);
    assert_eq!(tape.take(0, acks(1).window(0)).window_bytes, Some(0));
    let mut tape = Tape::blank();
    tape.take(0, syn());
    let plain = syn_ack().options(|options| options.window_shift = None);
    tape.take(0, plain);
    assert_eq!(tape.take(0, data(1..1)).window_bytes, Some(1000));
    assert_eq!(tape.take(0, acks(0)).window_bytes, Some(1000));
}

#[test]
fn an_older_acknowledgement_does_not_close_the_window() {
    let mut tape = Tape::new();
    tape.segments(0, 0..2);
    tape.take(MS, acks(2));
    tape.take(MS, acks(1).window(0));
    assert_eq!(tape.kind(2 * MS, data(2001..2002)), New);
    assert_eq!(tape.summary().client.zero_windows, 0);
}
