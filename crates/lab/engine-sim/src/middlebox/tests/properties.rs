//! Properties of the boxes under arbitrary packets.

use mptcplab_plan::{Middlebox as Planned, SegmentKind};
use mptcplab_wire::Packet;
use proptest::prelude::*;

use super::{BOTH, act, chain, data, pass};

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
