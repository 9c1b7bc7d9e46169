//! The middleboxes: the packets that they change, and those that they leave alone.

mod nat;
mod properties;
mod proxy_ack;
mod segments;

use std::net::SocketAddr;

use bytes::Bytes;
use mptcplab_plan::Middlebox as Planned;
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};
use mptcplab_wire::{Flags, Options, Packet, Segment, Timestamps};

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
