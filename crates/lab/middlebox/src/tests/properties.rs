//! Properties of the boxes under arbitrary packets.

use mptcplab_plan::{Middlebox as Planned, SegmentKind};
use mptcplab_wire::{Packet, ReadError};
use proptest::prelude::*;

use super::{BOTH, act, chain, data, pass};
use crate::Directed;

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

    /// No bytes make a box panic, and a whole packet leaves every box whole.
    #[test]
    fn any_packet_passes_every_box_and_whole_ones_stay_whole(
        packets in prop::collection::vec(packet(), 1..4),
        direction in 0..2_usize,
    ) {
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
            Planned::DropSynData { segment: false, direction: BOTH },
            Planned::ChangePayload { probability: 1.0, direction: BOTH },
            Planned::Corrupt { probability: 1.0, direction: BOTH },
        ];
        let whole: Vec<Packet> = packets.iter().filter_map(|one| read(one).ok()).collect();
        for count in [1, boxes.len()] {
            for some in boxes.chunks(count) {
                let mut out = Vec::new();
                carry(some, direction, &packets, &mut out);
                out.clear();
                carry(some, direction, &whole, &mut out);
                for (_, one) in out {
                    prop_assert_eq!(read(&one), Ok(one), "{:?}", some);
                }
            }
        }
    }
}

#[test]
fn a_header_that_is_not_whole_has_no_ports_to_translate() {
    let address = "192.0.2.1".parse().unwrap();
    let packet = Packet {
        header: [0x40, 0, 0, 12, 0, 0, 0, 0, 64, 6, 0, 0]
            .into_iter()
            .collect(),
        payload: Default::default(),
    };
    let mut out = Vec::new();
    carry(
        &[Planned::Nat { inside: 0, address }],
        0,
        &[packet],
        &mut out,
    );
    assert_eq!(out, []);
}

/// Passes packets through boxes, one every 2 ns, until no box holds any.
fn carry(boxes: &[Planned], direction: usize, packets: &[Packet], out: &mut Vec<Directed>) {
    let mut boxes = chain(boxes);
    for (now, packet) in packets.iter().enumerate() {
        boxes.pass(2 * now as u64, (direction, packet.clone()), out);
    }
    boxes.act(100, out);
}

/// The packet as its receiver reads it.
fn read(packet: &Packet) -> Result<Packet, ReadError> {
    let mut bytes = Vec::new();
    packet.write_to(&mut bytes);
    Packet::read(bytes.into())
}

/// Bytes that begin as packets do. The length in the header is mostly right.
fn packet() -> impl Strategy<Value = Packet> {
    let bytes = prop::collection::vec(any::<u8>(), 60..200);
    let protocol = prop::sample::select(vec![1_u8, 6, 6, 6, 17, 58, 99]);
    (bytes, any::<bool>(), protocol, 0..2_usize).prop_map(|(mut bytes, ipv4, protocol, over)| {
        let length = (bytes.len() - over) as u16;
        if ipv4 {
            bytes[0] = 0x45;
            bytes[2..4].copy_from_slice(&length.to_be_bytes());
            bytes[6] &= 0x40;
            bytes[7] = 0;
            bytes[9] = protocol;
        } else {
            bytes[0] = 0x60;
            bytes[4..6].copy_from_slice(&(length - 40).to_be_bytes());
            bytes[6] = protocol;
        }
        let payload = bytes.split_off(60);
        Packet {
            header: bytes.iter().copied().collect(),
            payload: payload.into(),
        }
    })
}
