//! The boxes that change, cut, join or drop segments.

use bytes::Bytes;
use mptcplab_plan::{Middlebox as Planned, SegmentKind};
use mptcplab_wire::option::MptcpOption;
use mptcplab_wire::{SackBlock, Segment, Timestamps};

use super::{BOTH, act, chain, data, pass, with_dss};

#[test]
fn a_stripped_option_becomes_padding_and_the_others_stay() {
    let strip = |kinds: &[u8], mptcp_subtypes: &[u8], on| Planned::StripOptions {
        kinds: kinds.to_vec(),
        mptcp_subtypes: mptcp_subtypes.to_vec(),
        on,
        direction: Some(0),
    };
    let segment = with_dss(data(1, b"abc"));
    let mut without = segment.clone();
    without.options.mptcp.clear();
    let mut all = chain(&[strip(&[30], &[], SegmentKind::All)]);
    assert_eq!(pass(&mut all, 0, 0, &segment), [(0, without.clone())]);
    assert_eq!(pass(&mut all, 0, 1, &segment), [(1, segment.clone())]);
    // DSS is subtype 2.
    let mut dss = chain(&[strip(&[30], &[2], SegmentKind::Data)]);
    assert_eq!(pass(&mut dss, 0, 0, &segment), [(0, without)]);
    let mut add_addr = chain(&[strip(&[30], &[3], SegmentKind::Data)]);
    assert_eq!(pass(&mut add_addr, 0, 0, &segment), [(0, segment.clone())]);
    let mut syns = chain(&[strip(&[30], &[], SegmentKind::Syn)]);
    assert_eq!(pass(&mut syns, 0, 0, &segment), [(0, segment)]);
}

#[test]
fn a_firewall_drops_what_carries_an_option_that_it_does_not_know() {
    let mut firewall = chain(&[Planned::DropUnknownOptions {
        on: SegmentKind::All,
        direction: BOTH,
    }]);
    let mut plain = data(1, b"abc");
    plain.options.timestamps = Some(Timestamps { value: 3, echo: 4 });
    plain.options.sack.push(SackBlock { left: 5, right: 6 });
    assert_eq!(pass(&mut firewall, 0, 0, &plain), [(0, plain.clone())]);
    assert_eq!(pass(&mut firewall, 0, 0, &with_dss(data(1, b"abc"))), []);
}

#[test]
fn a_syn_loses_its_payload_or_is_lost() {
    let drop = |segment| {
        chain(&[Planned::DropSynData {
            segment,
            direction: Some(0),
        }])
    };
    let mut syn = data(1, b"abc");
    (syn.flags.syn, syn.flags.ack) = (true, false);
    let mut without = syn.clone();
    without.payload = Bytes::new();
    assert_eq!(pass(&mut drop(false), 0, 0, &syn), [(0, without.clone())]);
    assert_eq!(pass(&mut drop(true), 0, 0, &syn), []);
    for segment in [false, true] {
        let same = [(0, without.clone())];
        assert_eq!(pass(&mut drop(segment), 0, 0, &without), same);
        assert_eq!(pass(&mut drop(segment), 0, 1, &syn), [(1, syn.clone())]);
        let later = data(1, b"abc");
        assert_eq!(pass(&mut drop(segment), 0, 0, &later), [(0, later)]);
    }
}

#[test]
fn boxes_are_met_in_the_order_of_the_direction() {
    // The one cuts into pieces of 2, the other joins up to 4: what comes out tells the order.
    let boxes = [
        Planned::Split {
            payload_bytes: 2,
            direction: BOTH,
        },
        Planned::Coalesce {
            payload_bytes: 4,
            hold_ns: 10,
            direction: BOTH,
        },
    ];
    let lengths = |direction| {
        let out = pass(&mut chain(&boxes), 0, direction, &data(1, b"abcdefgh"));
        out.iter()
            .map(|(_, one)| one.payload.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(lengths(0), [4, 4]);
    assert_eq!(lengths(1), [2, 2, 2, 2]);
}

#[test]
fn parts_of_a_segment_have_its_options_and_only_the_last_ends_it() {
    let mut split = chain(&[Planned::Split {
        payload_bytes: 3,
        direction: Some(0),
    }]);
    let mut whole = with_dss(data(10, b"abcdefgh"));
    (whole.flags.fin, whole.flags.psh, whole.flags.cwr) = (true, true, true);
    let part = |sequence, payload: &'static [u8], first, last| {
        let mut part = Segment {
            sequence,
            payload: Bytes::from_static(payload),
            ..whole.clone()
        };
        (part.flags.fin, part.flags.psh, part.flags.cwr) = (last, last, first);
        (0, part)
    };
    let expected = [
        part(10, b"abc", true, false),
        part(13, b"def", false, false),
        part(16, b"gh", false, true),
    ];
    assert_eq!(pass(&mut split, 0, 0, &whole), expected);
}

#[test]
fn a_held_segment_is_joined_by_the_next_or_goes_on_in_time() {
    let mut coalesce = chain(&[Planned::Coalesce {
        payload_bytes: 6,
        hold_ns: 100,
        direction: Some(0),
    }]);
    assert_eq!(pass(&mut coalesce, 0, 0, &with_dss(data(1, b"abc"))), []);
    let mut next = data(4, b"def");
    (next.acknowledgement, next.window) = (8, 900);
    let mut whole = with_dss(data(1, b"abcdef"));
    let MptcpOption::Dss(dss) = &mut whole.options.mptcp[0] else {
        unreachable!();
    };
    // The mapping is the first one's.
    dss.mapping.as_mut().unwrap().bytes = 3;
    (whole.acknowledgement, whole.window) = (8, 900);
    assert_eq!(pass(&mut coalesce, 50, 0, &next), [(0, whole)]);

    assert_eq!(pass(&mut coalesce, 60, 0, &data(7, b"g")), []);
    assert_eq!(coalesce.deadline(), Some(160));
    assert_eq!(act(&mut coalesce, 160), [(0, data(7, b"g"))]);
    // A segment that does not follow, or does not fit, pushes the held one on.
    assert_eq!(pass(&mut coalesce, 200, 0, &data(8, b"hi")), []);
    assert_eq!(
        pass(&mut coalesce, 200, 0, &data(20, b"j")),
        [(0, data(8, b"hi"))]
    );
    let acknowledgement = data(21, b"");
    let expected = [(0, data(20, b"j")), (0, acknowledgement.clone())];
    assert_eq!(pass(&mut coalesce, 200, 0, &acknowledgement), expected);
}

#[test]
fn a_changed_byte_is_the_only_one_and_the_checksum_holds() {
    let mut gateway = chain(&[Planned::ChangePayload {
        probability: 1.0,
        direction: Some(0),
    }]);
    let segment = data(1, &[0; 100]);
    let [(0, changed)] = &pass(&mut gateway, 0, 0, &segment)[..] else {
        panic!("not one segment");
    };
    assert_eq!(changed.payload.iter().filter(|&&byte| byte != 0).count(), 1);
    assert_eq!(changed.payload.len(), 100);
    assert_eq!(pass(&mut gateway, 0, 1, &segment), [(1, segment.clone())]);
}

#[test]
fn the_checksums_find_every_flipped_bit_of_ipv4() {
    let mut corrupt = chain(&[Planned::Corrupt {
        probability: 1.0,
        direction: BOTH,
    }]);
    for sequence in 0..1000 {
        assert_eq!(pass(&mut corrupt, 0, 0, &data(sequence, b"abcdef")), []);
    }
}
