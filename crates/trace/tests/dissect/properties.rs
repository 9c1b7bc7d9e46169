//! Generated packets: the fields that etherparse finds, and each frame counted once.

use mptcplab_trace::dissect::Dissector;
use proptest::prelude::*;

use crate::common::ip::{extended_v6, with_options_v4};
use crate::common::{link, packet, segment};
use crate::{V4, V6, frame, take};

/// Returns the fields that etherparse finds in an Ethernet frame: ports, sequence number, bytes of
/// data.
fn by_etherparse(frame: &[u8]) -> Option<(u16, u16, u32, usize)> {
    let sliced = etherparse::LaxSlicedPacket::from_ethernet(frame).ok()?;
    let fragmented = match &sliced.net {
        Some(etherparse::LaxNetSlice::Ipv4(v4)) => v4.is_payload_fragmented(),
        Some(etherparse::LaxNetSlice::Ipv6(v6)) => v6.is_payload_fragmented(),
        _ => true,
    };
    match sliced.transport {
        Some(etherparse::TransportSlice::Tcp(tcp)) if !fragmented => Some((
            tcp.source_port(),
            tcp.destination_port(),
            tcp.sequence_number(),
            tcp.payload().len(),
        )),
        _ => None,
    }
}

/// Packets of both families, some with what may stand between IP and TCP.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let extension = (0..5_usize).prop_map(|choice| -> (u8, &[u8]) {
        [
            (0, &[0, 0, 1, 4, 0, 0, 0, 0][..]),
            (60, &[0, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (43, &[0; 8]),
            (51, &[0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]),
            (44, &[0, 0, 0, 0, 0, 0, 0, 7]),
        ][choice]
    });
    let v4 =
        (0..10_usize).prop_map(|words| with_options_v4(&packet(&segment(V4)), &vec![1; 4 * words]));
    let v6 = prop::collection::vec(extension, 0..2).prop_map(|extensions| {
        let plain = packet(&segment(V6));
        let add =
            |bytes: Vec<u8>, &(kind, extension): &(u8, &[u8])| extended_v6(&bytes, kind, extension);
        extensions.iter().fold(plain, add)
    });
    prop_oneof![v4, v6]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn another_library_finds_the_same(
        packet in packets(),
        tags in prop::collection::vec(prop_oneof![Just(0x8100_u16), Just(0x88a8)], 0..3),
    ) {
        let tags: Vec<_> = tags.into_iter().map(|kind| (kind, 1)).collect();
        let frame = link::tagged(&tags, &packet);
        let found = by_etherparse(&frame);
        prop_assert!(found.is_some());
        let ours = take(link::ETHERNET, &frame).map(|segment| {
            let ports = (segment.source.port(), segment.destination.port());
            (ports.0, ports.1, segment.sequence, segment.payload_bytes as usize)
        });
        prop_assert_eq!(ours.ok(), found);
    }

    #[test]
    fn any_bytes_are_taken_or_counted_once(
        link_type in prop::sample::select(link::ALL.to_vec()),
        packet in packets(),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..6),
        captured in 0..300_usize,
        original in 0..300_usize,
    ) {
        let mut bytes = link::frame(link_type, &packet);
        let count = bytes.len();
        for (at, value) in changes {
            bytes[at % count] = value;
        }
        let captured = captured.min(count);
        let mut dissector = Dissector::new(true);
        let frame = frame(link_type, &bytes[..captured], original.max(captured));
        let taken = dissector.take(&frame);
        prop_assert_eq!(dissector.skipped().total(), u64::from(taken.is_none()));
    }
}
