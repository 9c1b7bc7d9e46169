//! RSTs that count, and those that their receiver must ignore.

use super::build::*;
use crate::Segment;

const CLIENT_2: &str = "10.0.1.1:6000";
const TOKEN: u32 = 0x18f9_781b;

fn rst(source: &str, destination: &str, sequence: u32) -> Segment {
    let mut segment = segment(source, destination).rst();
    segment.sequence = sequence;
    segment
}

fn rst_ack(source: &str, destination: &str, sequence: u32, acknowledged: u32) -> Segment {
    ack(source, destination, sequence, acknowledged).rst()
}

fn scaled(mut segment: Segment, shift: u8) -> Segment {
    segment.options.window_shift = Some(shift);
    segment
}

/// Returns whether a segment that comes after those counts.
fn counts(before: &[Segment], last: &Segment) -> bool {
    let mut told = Told::of(before.iter().cloned());
    let placed = told.place(last).expect("a place");
    let events = told.kinds();
    assert_eq!(events.contains(&"reset"), placed.acceptable);
    assert_eq!(events.contains(&"reset_ignored"), !placed.acceptable);
    placed.acceptable
}

#[test]
fn in_syn_sent_an_rst_acknowledges_the_syn() {
    let before = [syn(CLIENT, SERVER, ISN)];
    let counts = |last| counts(&before, &last);
    assert!(!counts(rst(SERVER, CLIENT, 0)));
    assert!(!counts(rst(SERVER, CLIENT, ISN_SERVER)));
    assert!(!counts(rst_ack(SERVER, CLIENT, 0, ISN)));
    assert!(counts(rst_ack(SERVER, CLIENT, 0, ISN + 1)));
    assert!(!counts(rst_ack(SERVER, CLIENT, 0, ISN + 2)));
    // The client gives up: the server is in LISTEN or SYN-RECEIVED.
    assert!(counts(rst(CLIENT, SERVER, ISN + 1)));
}

#[test]
fn after_a_syn_ack_the_client_may_be_in_syn_sent_or_established() {
    let before = [
        syn(CLIENT, SERVER, ISN),
        syn_ack(SERVER, CLIENT, ISN_SERVER, ISN + 1),
    ];
    let counts = |last| counts(&before, &last);
    assert!(counts(rst(SERVER, CLIENT, ISN_SERVER + 1)));
    assert!(counts(rst_ack(SERVER, CLIENT, 0, ISN + 1)));
    assert!(!counts(rst(SERVER, CLIENT, 0)));
    // The server is in SYN-RECEIVED: its window of 500 counts.
    assert!(counts(rst(CLIENT, SERVER, ISN + 1)));
    assert!(counts(rst(CLIENT, SERVER, ISN + 501)));
    assert!(!counts(rst(CLIENT, SERVER, ISN + 502)));
    assert!(!counts(rst(CLIENT, SERVER, ISN)));
    assert!(!counts(rst_ack(CLIENT, SERVER, ISN, ISN_SERVER + 1)));
}

#[test]
fn later_it_lies_in_the_scaled_window() {
    let before = [
        scaled(syn(CLIENT, SERVER, ISN), 2),
        scaled(syn_ack(SERVER, CLIENT, ISN_SERVER, ISN + 1), 1),
        ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1),
        ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1).bytes(100),
        ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 101),
    ];
    let counts = |last| counts(&before, &last);
    assert!(!counts(rst(SERVER, CLIENT, ISN_SERVER + 100)));
    assert!(counts(rst(SERVER, CLIENT, ISN_SERVER + 101)));
    assert!(counts(rst(SERVER, CLIENT, ISN_SERVER + 101 + 4 * 500)));
    assert!(!counts(rst(SERVER, CLIENT, ISN_SERVER + 102 + 4 * 500)));
    assert!(counts(rst(CLIENT, SERVER, ISN + 1 + 2 * 500)));
    assert!(!counts(rst(CLIENT, SERVER, ISN + 2 + 2 * 500)));
}

#[test]
fn an_end_may_reset_after_all_that_it_sent() {
    let mut zero = ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1);
    zero.window = 0;
    let before = [
        syn(CLIENT, SERVER, ISN),
        syn_ack(SERVER, CLIENT, ISN_SERVER, ISN + 1),
        ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1),
        ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1).bytes(900),
        zero,
    ];
    assert!(counts(&before, &rst(CLIENT, SERVER, ISN + 901)));
    assert!(!counts(&before, &rst(CLIENT, SERVER, ISN + 902)));
    assert!(counts(&before[..4], &rst(SERVER, CLIENT, ISN_SERVER + 1)));
}

#[test]
fn what_the_capture_does_not_tell_is_no_reason_to_ignore_one() {
    assert!(counts(&[], &rst(SERVER, CLIENT, 77)));
    // Nothing of the client was captured.
    let before = [ack(SERVER, CLIENT, ISN_SERVER, ISN).bytes(100)];
    assert!(counts(&before, &rst(SERVER, CLIENT, 77)));
    // The scale of its windows was not.
    let before = [ack(CLIENT, SERVER, ISN, ISN_SERVER)];
    assert!(counts(
        &before,
        &rst(SERVER, CLIENT, ISN_SERVER + (500 << 14))
    ));
    assert!(!counts(
        &before,
        &rst(SERVER, CLIENT, ISN_SERVER + (500 << 14) + 1)
    ));
    assert!(!counts(&before, &rst(SERVER, CLIENT, ISN_SERVER - 1)));
}

#[test]
fn after_the_end_every_rst_is_one_more() {
    let before = [
        syn(CLIENT, SERVER, ISN),
        syn_ack(SERVER, CLIENT, ISN_SERVER, ISN + 1),
        ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1),
        rst(CLIENT, SERVER, ISN + 1),
    ];
    let mut told = Told::of(before);
    assert!(told.place(&rst(SERVER, CLIENT, 5)).unwrap().acceptable);
}

/// Old stacks acknowledge data of the connection on a subflow that they are about to open.
#[test]
fn an_acknowledgement_of_nothing_in_syn_sent_and_its_rst_leave_the_join_as_it_was() {
    let mut told = Told::of(opening(1));
    let join = || syn(CLIENT_2, SERVER, 50).with(join_syn(TOKEN, 3, 7));
    assert!(told.place(&join()).unwrap().acceptable);
    assert!(
        !told
            .place(&ack(CLIENT_2, SERVER, 51, 0))
            .unwrap()
            .acceptable
    );
    assert!(!told.place(&rst(SERVER, CLIENT_2, 0)).unwrap().acceptable);
    // A second one says nothing more.
    assert!(!told.place(&rst(SERVER, CLIENT_2, 0)).unwrap().acceptable);
    let later = [
        join(),
        syn_ack(SERVER, CLIENT_2, 90, 51).with(join_syn_ack(1, 4, 9)),
        ack(CLIENT_2, SERVER, 51, 91),
    ];
    for segment in &later {
        let placed = told.place(segment).expect("a place");
        assert!(placed.acceptable);
        assert_eq!((placed.place.connection, placed.place.subflow), (0, 1));
    }
    assert_eq!(told.registry.connections().count(), 1);
    assert_eq!(
        told.kinds()[2..],
        [
            "subflow_opened",
            "reset_ignored",
            "hmac_wrong",
            "subflow_established"
        ]
    );
    assert_eq!(
        told.texts("reset_ignored"),
        ["RST: it does not acknowledge the receiver's SYN"]
    );
}

#[test]
fn a_third_ack_counts_though_the_syn_ack_was_not_captured() {
    let mut told = Told::of([syn(CLIENT, SERVER, ISN)]);
    let third = ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1);
    assert!(told.place(&third).unwrap().acceptable);
    assert_eq!(told.kinds(), ["connection_opened", "subflow_established"]);
}
