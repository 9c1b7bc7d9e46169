//! Any bytes as a packet: refused, or read the same from the bytes that it is written as.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mptcplab_wire::{Packet, Segment, summary};

/// `packet` as bytes.
fn written(packet: &Packet) -> Bytes {
    let mut bytes = Vec::new();
    packet.write_to(&mut bytes);
    bytes.into()
}

fuzz_target!(|bytes: &[u8]| {
    // A fuzzer finds no checksum: they are made right by writing what has been taken apart.
    let (header, payload) = bytes.split_at(bytes.len().min(60));
    let Ok(header) = header.try_into() else {
        unreachable!("60 bytes are fewer than a header may have")
    };
    let payload = Bytes::copy_from_slice(payload);
    let checked = written(&Packet { header, payload });
    for bytes in [Bytes::copy_from_slice(bytes), checked] {
        let Ok(mut packet) = Packet::read(bytes.clone()) else {
            continue;
        };
        assert!(!summary::packet(&packet).contains('\n'));
        let again = written(&packet);
        assert_eq!(again.len(), packet.ip_bytes());
        assert_eq!(Packet::read(again), Ok(packet.clone()));
        assert_eq!(
            bytes[packet.header.len()..packet.ip_bytes()],
            packet.payload
        );
        let ecn = packet.ecn();
        packet.set_ecn(ecn);
        assert_eq!(packet.flow_hash(1), packet.clone().flow_hash(1));
        assert!(packet.as_echo().is_none() || packet.socket_addresses().is_none());
        assert!(packet.as_echo().is_none() || packet.as_unreachable().is_none());
        if let Some(error) = Packet::unreachable(packet.source(), &packet) {
            let told = error.as_unreachable().map(|lost| (lost.source, lost.destination));
            assert!(told.is_none() || told == packet.socket_addresses());
        }
        let hops = packet.hop_limit();
        assert_eq!(packet.decrement_hop_limit(), hops > 1);
        if let Ok(segment) = Segment::parse(packet.clone()) {
            assert_eq!(segment.source.ip(), packet.source());
            assert_eq!(
                packet.socket_addresses(),
                Some((segment.source, segment.destination))
            );
        }
    }
});
