//! Fragments of IP packets, in any order, with whatever a hostile sender makes of them.

mod common;

use common::ip::{extended_v6, fragments_v4, fragments_v6};
use common::{link, packet, segment};
use mptcplab_trace::Segment;
use mptcplab_trace::dissect::{Dissector, Skipped};
use mptcplab_trace::input::{Frame, LinkType};
use mptcplab_wire::{Ecn, Timestamps};
use proptest::prelude::*;

/// A reader of frames of one interface, a second apart.
struct Taker {
    dissector: Dissector,
    frames: u64,
}

impl Taker {
    fn new() -> Self {
        Self {
            dissector: Dissector::new(true),
            frames: 0,
        }
    }

    fn take(&mut self, packet: &[u8]) -> Option<Segment> {
        self.take_at(self.frames as i64 * 1_000_000_000, 0, packet, packet.len())
    }

    fn take_at(
        &mut self,
        at: i64,
        interface: u32,
        packet: &[u8],
        captured: usize,
    ) -> Option<Segment> {
        self.frames += 1;
        let taken = self.dissector.take(&Frame {
            at,
            number: self.frames,
            interface,
            link_type: LinkType(link::RAW),
            captured: &packet[..captured],
            original_bytes: packet.len() as u32,
        });
        let segments = u64::from(taken.is_some());
        assert!(self.dissector.skipped().total() + segments <= self.frames);
        taken
    }

    fn skipped(&self) -> Skipped {
        *self.dissector.skipped()
    }
}

/// A packet of 1000 bytes of data, with options.
fn whole(text: &str) -> Vec<u8> {
    let mut segment = segment(text);
    segment.payload = (0..1000_u32).map(|byte| (byte * 7) as u8).collect();
    segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    packet(&segment)
}

fn v4() -> Vec<u8> {
    let mut packet = whole("10.0.0.1:1000 > 10.0.0.2:80 A seq=7");
    packet[4..6].copy_from_slice(&[0, 99]);
    packet
}

fn v6() -> Vec<u8> {
    whole("[fd00::1]:1000 > [fd00::2]:80 A seq=7")
}

/// The segment of a packet that is whole, as if the frame `number` had completed it.
fn of_whole(packet: &[u8], number: u64) -> Segment {
    let segment = Taker::new().take(packet).unwrap();
    Segment {
        frame: number,
        at: (number - 1) as i64 * 1_000_000_000,
        ..segment
    }
}

#[test]
fn fragments_make_the_segment_that_was_cut() {
    for (whole, fragments) in [
        (v4(), fragments_v4(&v4(), 99, &[400, 800])),
        (v6(), fragments_v6(&v6(), 99, &[400, 800])),
    ] {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            let mut taker = Taker::new();
            assert_eq!(taker.take(&fragments[order[0]]), None);
            assert_eq!(taker.take(&fragments[order[1]]), None);
            assert_eq!(taker.skipped().fragment_incomplete, 2);
            let segment = taker.take(&fragments[order[2]]).unwrap();
            assert_eq!(segment, of_whole(&whole, 3));
            let joined = Skipped {
                fragment_joined: 2,
                ..Skipped::default()
            };
            assert_eq!(taker.skipped(), joined);
        }
    }
}

#[test]
fn headers_may_be_cut_into_pieces() {
    // 8 bytes each, so that the header of TCP is in four of them; the rest at once.
    let fragments = fragments_v4(&v4(), 99, &[8, 16, 24, 32]);
    let mut taker = Taker::new();
    for fragment in fragments[1..].iter().rev() {
        assert_eq!(taker.take(fragment), None);
    }
    assert_eq!(taker.take(&fragments[0]), Some(of_whole(&v4(), 5)));
}

#[test]
fn extension_headers_may_stand_in_fragments() {
    let inner = extended_v6(&v6(), 60, &[0; 8]);
    let outer = fragments_v6(&inner, 5, &[16, 800]);
    let mut taker = Taker::new();
    assert_eq!(taker.take(&outer[0]), None);
    assert_eq!(taker.take(&outer[1]), None);
    let segment = taker.take(&outer[2]).unwrap();
    assert_eq!(segment, of_whole(&inner, 3));
    // Fragments of fragments are nothing that a host sends.
    let nested = extended_v6(&v6(), 44, &[0, 0, 0, 1, 0, 0, 0, 9]);
    let outer = fragments_v6(&nested, 6, &[16]);
    assert_eq!(taker.take(&outer[0]), None);
    assert_eq!(taker.take(&outer[1]), None);
    assert_eq!(taker.skipped().malformed, 1);
}

#[test]
fn fragments_of_other_protocols_are_not_waited_for() {
    let mut packet = v4();
    packet[9] = 17;
    let mut taker = Taker::new();
    for fragment in fragments_v4(&packet, 1, &[400, 800]) {
        assert_eq!(taker.take(&fragment), None);
    }
    let udp = v6();
    for mut fragment in fragments_v6(&udp, 1, &[400, 800]) {
        fragment[40] = 17;
        assert_eq!(taker.take(&fragment), None);
    }
    assert_eq!(
        taker.skipped(),
        Skipped {
            not_tcp: 6,
            ..Skipped::default()
        }
    );
}

#[test]
fn fragments_that_were_cut_are_enough_where_the_header_was_captured() {
    for captured in [20 + 20, 20 + 32, 20 + 100] {
        let mut taker = Taker::new();
        let fragments = fragments_v4(&v4(), 99, &[400, 800]);
        for fragment in &fragments[..2] {
            assert_eq!(taker.take_at(0, 0, fragment, captured), None);
        }
        let segment = taker.take_at(0, 0, &fragments[2], captured).unwrap();
        let mut expected = of_whole(&v4(), 3);
        expected.at = 0;
        expected.payload_sum = None;
        expected.options_cut = captured < 52;
        if expected.options_cut {
            expected.options.timestamps = None;
        }
        assert_eq!(segment, expected);
    }
    let mut taker = Taker::new();
    for fragment in fragments_v4(&v4(), 99, &[400, 800]) {
        assert_eq!(taker.take_at(0, 0, &fragment, 39), None);
    }
    assert_eq!(taker.skipped().truncated, 1);
}

#[test]
fn congestion_that_a_fragment_met_is_that_of_the_packet() {
    let mut fragments = fragments_v4(&v4(), 99, &[400, 800]);
    fragments[1][1] |= 3;
    let mut taker = Taker::new();
    taker.take(&fragments[0]);
    taker.take(&fragments[1]);
    assert_eq!(
        taker.take(&fragments[2]).unwrap().ecn,
        Ecn::CongestionExperienced
    );
}

#[test]
fn a_fragment_that_came_twice_does_no_harm() {
    let fragments = fragments_v4(&v4(), 99, &[400, 800]);
    let mut taker = Taker::new();
    for at in [0, 0, 1, 0, 1] {
        assert_eq!(taker.take(&fragments[at]), None);
    }
    assert_eq!(taker.take(&fragments[2]), Some(of_whole(&v4(), 6)));
}

#[test]
fn fragments_that_overlap_spoil_their_packet() {
    let cases = [
        // Each two cuts, of which the second gives the fragments that come behind the first of
        // the first: they overlap at the front, at the back, around, or beyond the end.
        ([400, 800], [392, 800]),
        ([400, 800], [160, 480]),
        ([8, 16], [0, 400]),
    ];
    for (first, second) in cases {
        let mut taker = Taker::new();
        assert_eq!(taker.take(&fragments_v4(&v4(), 99, &first)[1]), None);
        assert_eq!(taker.take(&fragments_v4(&v4(), 99, &second)[1]), None);
        let expected = Skipped {
            fragment_incomplete: 1,
            malformed: 1,
            ..Skipped::default()
        };
        assert_eq!(taker.skipped(), expected, "{first:?} {second:?}");
    }
}

#[test]
fn a_second_end_spoils_the_packet() {
    let mut fragments = fragments_v4(&v4(), 99, &[400, 800]);
    let mut taker = Taker::new();
    taker.take(&fragments[2]);
    // The one in the middle as if it were the last.
    fragments[1][6] &= !0x20;
    taker.take(&fragments[1]);
    assert_eq!(taker.skipped().malformed, 1);
    // A part behind the end.
    let mut taker = Taker::new();
    taker.take(&fragments[1]);
    taker.take(&fragments[2]);
    assert_eq!(taker.skipped().malformed, 1);
}

#[test]
fn fragments_that_cannot_be_are_malformed() {
    let mut taker = Taker::new();
    let fragments = fragments_v4(&v4(), 99, &[400, 800]);
    // Beyond what a packet may have.
    let mut beyond = fragments[2].clone();
    beyond[6..8].copy_from_slice(&[0x1f, 0xff]);
    taker.take(&beyond);
    // Not the last, and no multiple of 8 bytes.
    let mut odd = fragments[0].clone();
    odd[3] -= 1;
    taker.take(&odd);
    // Empty.
    let mut empty = fragments[1].clone();
    empty[2..4].copy_from_slice(&[0, 20]);
    taker.take(&empty);
    assert_eq!(
        taker.skipped(),
        Skipped {
            malformed: 3,
            ..Skipped::default()
        }
    );
}

#[test]
fn packets_are_told_apart_by_interface_addresses_and_identification() {
    let mut taker = Taker::new();
    let ours = fragments_v4(&v4(), 99, &[400]);
    let other_identification = fragments_v4(&v4(), 98, &[400]);
    let other_addresses = fragments_v4(&whole("10.0.0.3:1000 > 10.0.0.2:80 A seq=7"), 99, &[400]);
    assert_eq!(taker.take(&ours[0]), None);
    assert_eq!(taker.take_at(0, 1, &ours[1], ours[1].len()), None);
    assert_eq!(taker.take(&other_identification[1]), None);
    assert_eq!(taker.take(&other_addresses[1]), None);
    assert_eq!(taker.take(&ours[1]), Some(of_whole(&v4(), 5)));
    assert_eq!(taker.skipped().fragment_incomplete, 3);
}

#[test]
fn fragments_are_not_waited_for_longer_than_a_minute() {
    let fragments = fragments_v4(&v4(), 99, &[400]);
    for (wait, joined) in [(60_000_000_000, true), (60_000_000_001, false)] {
        let mut taker = Taker::new();
        taker.take_at(0, 0, &fragments[0], fragments[0].len());
        let segment = taker.take_at(wait, 0, &fragments[1], fragments[1].len());
        assert_eq!(segment.is_some(), joined);
    }
}

#[test]
fn so_many_packets_are_waited_for_and_no_more() {
    for (others, joined) in [(255, true), (256, false)] {
        let mut taker = Taker::new();
        let ours = fragments_v4(&v4(), 9999, &[400]);
        taker.take_at(0, 0, &ours[0], ours[0].len());
        for identification in 0..others {
            let fragments = fragments_v4(&v4(), identification, &[400]);
            taker.take_at(1, 0, &fragments[0], fragments[0].len());
        }
        let segment = taker.take_at(2, 0, &ours[1], ours[1].len());
        assert_eq!(segment.is_some(), joined);
    }
}

#[test]
fn a_packet_in_too_many_pieces_is_given_up() {
    let cuts: Vec<_> = (1..100).map(|piece| piece * 8).collect();
    let fragments = fragments_v4(&v4(), 99, &cuts);
    let mut taker = Taker::new();
    // Every second one leaves a gap behind it.
    for fragment in fragments.iter().step_by(2).take(17) {
        taker.take(fragment);
    }
    let expected = Skipped {
        fragment_incomplete: 16,
        malformed: 1,
        ..Skipped::default()
    };
    assert_eq!(taker.skipped(), expected);
}

proptest! {
    #[test]
    fn fragments_of_any_size_in_any_order_make_the_packet(
        is_v6: bool,
        units in prop::collection::btree_set(1_usize..128, 0..12),
        keys in prop::collection::vec(any::<u32>(), 13),
    ) {
        let whole = if is_v6 { v6() } else { v4() };
        let cuts: Vec<_> = units.into_iter().map(|unit| unit * 8).collect();
        prop_assume!(!cuts.is_empty());
        let mut fragments = if is_v6 {
            fragments_v6(&whole, 99, &cuts)
        } else {
            fragments_v4(&whole, 99, &cuts)
        };
        let mut keyed: Vec<_> = keys.into_iter().zip(fragments.drain(..)).collect();
        keyed.sort();
        let mut taker = Taker::new();
        let mut taken: Vec<_> = keyed.iter().map(|(_, fragment)| taker.take(fragment)).collect();
        let last = taken.pop().flatten();
        prop_assert!(taken.iter().all(Option::is_none));
        prop_assert_eq!(last, Some(of_whole(&whole, keyed.len() as u64)));
    }

    #[test]
    fn parts_of_any_kind_never_make_more_than_there_is(
        parts in prop::collection::vec((0_u16..40, 0_usize..30, any::<bool>()), 0..60),
    ) {
        let mut taker = Taker::new();
        for (place, units, more) in parts {
            let mut packet = v4()[..20 + 8 * units].to_vec();
            let place = place | if more { 0x2000 } else { 0 };
            packet[6..8].copy_from_slice(&place.to_be_bytes());
            let bytes = packet.len() as u16;
            packet[2..4].copy_from_slice(&bytes.to_be_bytes());
            taker.take(&packet);
        }
        prop_assert!(taker.skipped().total() <= taker.frames);
    }
}
