//! Packets that several interfaces saw.

use super::build::*;
use crate::{Nanos, Segment};

const SECOND: Nanos = 1_000_000_000;

fn data(number: u16, at: Nanos, interface: u32) -> Segment {
    ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1)
        .bytes(100)
        .identified(number)
        .at(at)
        .on(interface)
}

/// Which of the segments are duplicates.
fn duplicates(segments: impl IntoIterator<Item = Segment>) -> Vec<bool> {
    let mut told = Told::default();
    let placed = |segment: Segment| told.place(&segment).unwrap().duplicate;
    segments.into_iter().map(placed).collect()
}

#[test]
fn a_packet_on_a_second_interface_is_a_duplicate() {
    let mut forwarded = data(1, 5, 1);
    forwarded.hop_limit = 63;
    forwarded.checksum = 9;
    forwarded.ecn = mptcplab_wire::Ecn::CongestionExperienced;
    let third = data(1, 6, 2);
    assert_eq!(
        duplicates([data(1, 0, 0), forwarded, third]),
        [false, true, true]
    );
}

#[test]
fn a_packet_sent_again_is_none() {
    assert_eq!(
        duplicates([data(1, 0, 0), data(2, 5, 1), data(2, 6, 0)]),
        [false, false, true]
    );
}

#[test]
fn the_second_occurrence_is_the_second_on_each_interface() {
    // Two equal packets on each of two interfaces, in two orders.
    let on = |interface, at| data(1, at, interface);
    assert_eq!(
        duplicates([on(0, 0), on(0, 1), on(1, 2), on(1, 3)]),
        [false, false, true, true]
    );
    assert_eq!(
        duplicates([on(0, 0), on(1, 1), on(1, 2), on(0, 3)]),
        [false, true, false, true]
    );
    // The second was lost on the way, and comes again.
    assert_eq!(
        duplicates([on(0, 0), on(1, 1), on(0, 2), on(0, 3), on(1, 4)]),
        [false, true, false, false, true]
    );
}

#[test]
fn copies_are_near_in_time() {
    assert_eq!(
        duplicates([data(1, 0, 0), data(1, 2 * SECOND, 1)]),
        [false, true]
    );
    assert_eq!(
        duplicates([data(1, 0, 0), data(1, 2 * SECOND + 1, 1)]),
        [false, false]
    );
}

#[test]
fn directions_on_different_interfaces_are_no_duplicates() {
    let there = |at| ack(CLIENT, SERVER, 5, 5).at(at);
    let back = |at| ack(SERVER, CLIENT, 5, 5).at(at).on(1);
    assert_eq!(
        duplicates([there(0), back(1), there(2), back(3)]),
        [false; 4]
    );
}

#[test]
fn a_duplicate_says_nothing_of_identity() {
    let mut told = Told::default();
    for segment in opening(1) {
        told.place(&segment.clone());
        told.place(&segment.on(1));
    }
    let identity = told.registry.connections().next().unwrap();
    assert_eq!(identity.subflows[0].handshake_rtt, Some(20));
    assert_eq!(told.kinds(), ["connection_opened", "subflow_established"]);
}

#[test]
fn a_second_interface_is_noticed_late_or_expected() {
    for expected in [false, true] {
        let mut told = Told::default();
        if expected {
            told.registry.expect_interfaces();
        }
        for number in 0..5000 {
            told.place(&data(number, 0, 0));
        }
        let first = told.place(&data(4999, 1, 1)).unwrap();
        assert_eq!(first.duplicate, expected);
        told.place(&data(5000, 2, 0));
        assert!(told.place(&data(5000, 3, 1)).unwrap().duplicate);
    }
}

#[test]
fn of_very_many_packets_the_newest_are_remembered() {
    let mut told = Told::default();
    told.registry.expect_interfaces();
    let packet = |number: u32| {
        let mut segment = data(number as u16, 0, 0);
        segment.sequence = number;
        segment
    };
    for number in 0..300_000 {
        assert!(!told.place(&packet(number)).unwrap().duplicate);
    }
    assert!(told.place(&packet(299_000).on(1)).unwrap().duplicate);
    assert!(!told.place(&packet(1000).on(1)).unwrap().duplicate);
}
