//! Packets of any bytes through every box, alone and one after the other: nothing panics, and what
//! is a whole packet leaves the boxes whole.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mptcplab_middlebox::{Chain, Directed};
use mptcplab_plan::{Middlebox, SegmentKind};
use mptcplab_wire::Packet;

/// Bytes of a packet that are its header.
const HEADER_BYTES: usize = 60;

fn boxes() -> [Middlebox; 10] {
    let (direction, on) = (None, SegmentKind::All);
    [
        Middlebox::Nat {
            inside: 0,
            address: [192, 0, 2, 1].into(),
        },
        Middlebox::StripOptions {
            kinds: vec![2, 30],
            mptcp_subtypes: vec![1],
            on,
            direction,
        },
        Middlebox::Split {
            payload_bytes: 3,
            direction,
        },
        Middlebox::Coalesce {
            payload_bytes: 30,
            hold_ns: 5,
            direction,
        },
        Middlebox::ProxyAck { sender: 0 },
        Middlebox::ChangePayload {
            probability: 1.0,
            direction,
        },
        Middlebox::DropUnknownOptions { on, direction },
        Middlebox::DropSynData {
            segment: false,
            direction,
        },
        Middlebox::DropSynData {
            segment: true,
            direction,
        },
        Middlebox::Corrupt {
            probability: 1.0,
            direction,
        },
    ]
}

/// The packet as its receiver reads it.
fn read(packet: &Packet) -> Option<Packet> {
    let mut bytes = Vec::new();
    packet.write_to(&mut bytes);
    Packet::read(bytes.into()).ok()
}

/// A packet of these bytes; its length in the header is made right.
fn packet(bytes: &[u8]) -> Packet {
    let (header, payload) = bytes.split_at(bytes.len().min(HEADER_BYTES));
    let mut header = header.to_vec();
    let length = bytes.len() as u16;
    match header.first().map(|first| first >> 4) {
        Some(4) if header.len() >= 20 => header[2..4].copy_from_slice(&length.to_be_bytes()),
        Some(6) if header.len() >= 40 => {
            header[4..6].copy_from_slice(&(length - 40).to_be_bytes());
        }
        _ => {}
    }
    Packet {
        header: header.iter().copied().collect(),
        payload: Bytes::copy_from_slice(payload),
    }
}

/// Passes packets through boxes, one every 2 ns, until no box holds any.
fn carry(boxes: &[Middlebox], packets: &[Directed]) -> Vec<Directed> {
    let mut boxes = Chain::new(boxes, 1, 0);
    let mut out = Vec::new();
    for (now, directed) in packets.iter().enumerate() {
        boxes.pass(2 * now as u64, directed.clone(), &mut out);
    }
    boxes.act(1 << 40, &mut out);
    out
}

// Each packet is preceded by its length in a byte and a byte whose last bit is its direction.
fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let mut packets = Vec::new();
    while let [length, direction, after @ ..] = rest {
        let (own, after) = after.split_at(after.len().min((*length).into()));
        packets.push((usize::from(direction & 1), packet(own)));
        rest = after;
    }
    let whole: Vec<Directed> = packets
        .iter()
        .filter_map(|(direction, packet)| Some((*direction, read(packet)?)))
        .collect();
    let every = boxes();
    for count in [1, every.len()] {
        for boxes in every.chunks(count) {
            carry(boxes, &packets);
            for (_, packet) in carry(boxes, &whole) {
                assert_eq!(read(&packet).as_ref(), Some(&packet), "{boxes:?}");
            }
        }
    }
});
