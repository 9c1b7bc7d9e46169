//! What each box does to packets, and what it leaves alone.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_plan::{Middlebox as Planned, SegmentKind};
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};
use mptcplab_wire::{Flags, Options, Packet, SackBlock, Segment, Timestamps};
use proptest::prelude::*;

use super::Chain;

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn chain(planned: &[Planned]) -> Chain {
    Chain::new(planned, 1, 0)
}

/// A data segment of the inner end (direction 0).
fn data(sequence: u32, payload: &[u8]) -> Segment {
    Segment {
        source: address("10.0.0.1:40000"),
        destination: address("10.0.0.2:5001"),
        sequence,
        acknowledgement: 7,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        window: 1000,
        urgent: 0,
        options: Options::default(),
        ecn: Default::default(),
        payload: Bytes::copy_from_slice(payload),
    }
}

/// A segment of the outer end (direction 1) that acknowledges.
fn ack(acknowledgement: u32) -> Segment {
    Segment {
        source: address("10.0.0.2:5001"),
        destination: address("10.0.0.1:40000"),
        sequence: 500,
        acknowledgement,
        ..data(0, &[])
    }
}

fn syn(segment: Segment) -> Segment {
    Segment {
        flags: Flags {
            syn: true,
            ..segment.flags
        },
        ..segment
    }
}

fn with_dss(mut segment: Segment) -> Segment {
    let mapping = Mapping {
        data_sequence: DataNumber::Long(1 << 40),
        subflow_sequence: 1,
        bytes: segment.payload.len() as u16,
        checksum: None,
    };
    segment.options.timestamps = Some(Timestamps { value: 3, echo: 4 });
    segment.options.mptcp.push(MptcpOption::Dss(Dss {
        data_fin: false,
        acknowledgement: Some(DataNumber::Long(9)),
        mapping: Some(mapping),
    }));
    segment
}

fn pass(chain: &mut Chain, now: u64, direction: usize, segment: &Segment) -> Vec<(usize, Segment)> {
    let mut out = Vec::new();
    chain.pass(now, (direction, segment.clone().into_packet(64)), &mut out);
    parsed(&out)
}

fn act(chain: &mut Chain, now: u64) -> Vec<(usize, Segment)> {
    let mut out = Vec::new();
    chain.act(now, &mut out);
    parsed(&out)
}

/// The packets as their receiver reads them from a wire, lengths and checksums included.
fn parsed(packets: &[(usize, Packet)]) -> Vec<(usize, Segment)> {
    let read = |(direction, packet): &(usize, Packet)| {
        let mut bytes = Vec::new();
        packet.write_to(&mut bytes);
        let packet = Packet::read(bytes.into()).expect("a whole packet");
        (*direction, Segment::parse(packet).expect("a whole segment"))
    };
    packets.iter().map(read).collect()
}

const BOTH: Option<usize> = None;

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
    // What does not follow, or does not fit, pushes it on.
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

fn nat() -> Chain {
    chain(&[Planned::Nat {
        inside: 0,
        address: "192.0.2.1".parse::<IpAddr>().unwrap(),
    }])
}

#[test]
fn a_nat_gives_its_address_and_takes_it_back_from_answers() {
    let mut nat = nat();
    let out = data(1, b"abc");
    let translated = Segment {
        source: address("192.0.2.1:40000"),
        ..out.clone()
    };
    assert_eq!(pass(&mut nat, 0, 0, &out), [(0, translated)]);
    let answer = Segment {
        source: out.destination,
        destination: address("192.0.2.1:40000"),
        ..out.clone()
    };
    let inside = Segment {
        destination: out.source,
        ..answer.clone()
    };
    assert_eq!(pass(&mut nat, 0, 1, &answer), [(1, inside)]);
}

#[test]
fn a_nat_maps_each_inner_endpoint_once_and_lets_only_answers_in() {
    let mut nat = nat();
    let from = |source: &str, destination: &str| Segment {
        source: address(source),
        destination: address(destination),
        ..data(1, b"abc")
    };
    let source_of = |nat: &mut Chain, segment: &Segment| pass(nat, 0, 0, segment)[0].1.source;
    let first = from("10.0.0.1:40000", "198.51.100.7:80");
    assert_eq!(source_of(&mut nat, &first), address("192.0.2.1:40000"));
    // Another host with the same port gets another one; the same host the same (endpoint-independent).
    let second = from("10.0.0.9:40000", "198.51.100.7:80");
    assert_eq!(source_of(&mut nat, &second), address("192.0.2.1:49152"));
    let elsewhere = from("10.0.0.1:40000", "198.51.100.8:81");
    assert_eq!(source_of(&mut nat, &elsewhere), address("192.0.2.1:40000"));
    // Address- and port-dependent filtering.
    for (stranger, passes) in [
        ("198.51.100.7:80", true),
        ("198.51.100.8:81", true),
        ("198.51.100.7:81", false),
        ("198.51.100.9:80", false),
    ] {
        let passed = pass(&mut nat, 0, 1, &from(stranger, "192.0.2.1:40000"));
        assert_eq!(passed.len(), usize::from(passes), "{stranger}");
    }
}

/// A proxy that has seen the handshake: the data begins at 101, the window is 1000 · 2².
fn proxy() -> Chain {
    let mut proxy = chain(&[Planned::ProxyAck { sender: 0 }]);
    pass(&mut proxy, 0, 0, &syn(data(100, b"")));
    let mut syn_ack = syn(ack(101));
    syn_ack.options.window_shift = Some(2);
    pass(&mut proxy, 0, 1, &syn_ack);
    let update = Segment {
        sequence: 501,
        ..ack(101)
    };
    pass(&mut proxy, 0, 1, &update);
    proxy
}

#[test]
fn a_proxy_acknowledges_at_once_with_the_window_that_is_left() {
    let mut proxy = proxy();
    let segment = data(101, &[1; 400]);
    let expected = Segment {
        sequence: 501,
        acknowledgement: 501,
        window: 900,
        ..ack(0)
    };
    assert_eq!(
        pass(&mut proxy, 0, 0, &segment),
        [(0, segment.clone()), (1, expected)]
    );
    // What does not follow is left to the receiver.
    let later = data(601, &[1; 100]);
    assert_eq!(pass(&mut proxy, 0, 0, &later), [(0, later.clone())]);
}

#[test]
fn a_proxy_sends_again_what_was_lost_behind_it() {
    let mut proxy = proxy();
    let segment = data(101, &[1; 400]);
    pass(&mut proxy, 5, 0, &segment);
    assert_eq!(proxy.deadline(), Some(5 + 1_000_000_000));
    assert_eq!(act(&mut proxy, 1_000_000_005), [(0, segment.clone())]);
    assert_eq!(proxy.deadline(), Some(1_000_000_005 + 2_000_000_000));
    // The receiver acknowledges: there is nothing left to be sent again.
    let last = Segment {
        sequence: 501,
        ..ack(501)
    };
    assert_eq!(
        pass(&mut proxy, 1_100_000_000, 1, &last),
        [(1, last.clone())]
    );
    assert_eq!(proxy.deadline(), None);
}

#[test]
fn three_duplicates_make_a_proxy_send_at_once() {
    let mut proxy = proxy();
    let segment = data(101, &[1; 400]);
    pass(&mut proxy, 0, 0, &segment);
    let mut duplicate = Segment {
        sequence: 501,
        ..ack(101)
    };
    duplicate.options.sack.push(SackBlock {
        left: 501,
        right: 601,
    });
    // The sender is told what the box has acknowledged already.
    let told = Segment {
        acknowledgement: 501,
        window: 900,
        sequence: 501,
        ..ack(0)
    };
    let mut last = Vec::new();
    for _ in 0..3 {
        last = pass(&mut proxy, 1, 1, &duplicate);
        assert_eq!(last[0], (1, told.clone()));
    }
    assert_eq!(last[1..], [(0, segment)]);
}

proptest! {
    /// Whatever the pieces, a box that cuts and one that joins keep the stream of bytes.
    #[test]
    fn cutting_and_joining_keep_every_byte_in_its_place(
        pieces in prop::collection::vec((1..50_usize, 0..300_u64), 1..30),
        split in 1..20_u32,
        join in 1..100_u32,
    ) {
        let mut boxes = chain(&[
            Planned::Coalesce { payload_bytes: join, hold_ns: 200, direction: BOTH },
            Planned::Split { payload_bytes: split, direction: BOTH },
        ]);
        let mut stream = Vec::new();
        let mut out = Vec::new();
        let mut now = 0;
        for (length, pause) in pieces {
            let payload: Vec<u8> = (stream.len()..stream.len() + length).map(|n| n as u8).collect();
            let segment = data(stream.len() as u32, &payload);
            stream.extend(payload);
            while let Some(due) = boxes.deadline().filter(|&due| due <= now + pause) {
                out.extend(act(&mut boxes, due));
            }
            now += pause;
            out.extend(pass(&mut boxes, now, 0, &segment));
        }
        out.extend(act(&mut boxes, now + 200));
        prop_assert_eq!(boxes.deadline(), None);
        let mut received = Vec::new();
        for (direction, segment) in out {
            prop_assert_eq!(direction, 0);
            prop_assert_eq!(segment.sequence as usize, received.len());
            prop_assert!(segment.payload.len() <= split as usize);
            received.extend_from_slice(&segment.payload);
        }
        prop_assert_eq!(received, stream);
    }

    /// No bytes make a box panic.
    #[test]
    fn any_packet_passes_every_box_without_panic(
        bytes in prop::collection::vec(any::<u8>(), 20..200),
        protocol in prop::sample::select(vec![1_u8, 6, 17, 58, 99]),
        direction in 0..2_usize,
    ) {
        let mut header = bytes;
        header[0] = 0x45;
        header[9] = protocol;
        let cut = header.len().min(60);
        let payload = header.split_off(cut);
        let packet = Packet {
            header: header.iter().copied().collect(),
            payload: payload.into(),
        };
        let all = SegmentKind::All;
        let boxes = [
            Planned::Nat { inside: 0, address: "192.0.2.1".parse().unwrap() },
            Planned::StripOptions {
                kinds: vec![2, 30], mptcp_subtypes: vec![1], on: all, direction: BOTH,
            },
            Planned::Split { payload_bytes: 3, direction: BOTH },
            Planned::Coalesce { payload_bytes: 30, hold_ns: 5, direction: BOTH },
            Planned::ProxyAck { sender: 0 },
            Planned::DropUnknownOptions { on: all, direction: BOTH },
            Planned::ChangePayload { probability: 1.0, direction: BOTH },
            Planned::Corrupt { probability: 1.0, direction: BOTH },
        ];
        let mut out = Vec::new();
        for one in &boxes {
            chain(std::slice::from_ref(one)).pass(0, (direction, packet.clone()), &mut out);
        }
        chain(&boxes).pass(0, (direction, packet), &mut out);
    }
}
