//! The codec for every segment, and for bytes that are none.

mod strategies;

use arrayvec::ArrayVec;
use bytes::Bytes;
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use mptcplab_wire::{
    Ecn, Flags, MAX_HEADER_BYTES, MAX_OPTION_BYTES, Options, Packet, Segment, summary,
};
use proptest::collection::vec;
use proptest::prelude::*;
use strategies::segment;

fn bytes(packet: &Packet) -> Bytes {
    let mut bytes = Vec::new();
    packet.write_to(&mut bytes);
    bytes.into()
}

proptest! {
    #[test]
    fn a_segment_comes_out_of_its_packet_as_it_went_in(segment in segment(), hop_limit: u8) {
        let packet = segment.clone().into_packet(hop_limit);
        prop_assert_eq!(packet.hop_limit(), hop_limit);
        prop_assert_eq!(Segment::parse(packet), Ok(segment));
    }

    #[test]
    fn a_summary_is_a_line_with_the_ends(segment in segment(), cut in 0..100_usize) {
        let ends = format!("{} > {} ", segment.source, segment.destination);
        let packet = segment.into_packet(64);
        let line = summary::packet(&packet);
        prop_assert!(line.starts_with(&ends) && !line.contains('\n'), "{}", line);
        let ether_type: u16 = if packet.source().is_ipv4() { 0x0800 } else { 0x86dd };
        let mut frame = vec![0; 12];
        frame.extend(ether_type.to_be_bytes());
        frame.extend(bytes(&packet));
        prop_assert_eq!(summary::frame(&frame.clone().into()), line);
        frame.truncate(cut);
        prop_assert!(!summary::frame(&frame.into()).contains('\n'));
    }

    #[test]
    fn a_packet_comes_out_of_its_bytes_as_it_went_in(segment in segment()) {
        let packet = segment.into_packet(64);
        prop_assert_eq!(Packet::read(bytes(&packet)), Ok(packet));
    }

    #[test]
    fn the_headers_and_checksums_are_those_of_another_codec(segment in segment()) {
        let bytes = bytes(&segment.clone().into_packet(17));
        let sliced = SlicedPacket::from_ip(&bytes).expect("the other codec reads it");
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else {
            return Err(TestCaseError::fail("no TCP"));
        };
        let flags = segment.flags;
        prop_assert_eq!(tcp.source_port(), segment.source.port());
        prop_assert_eq!(tcp.destination_port(), segment.destination.port());
        prop_assert_eq!(tcp.sequence_number(), segment.sequence);
        prop_assert_eq!(tcp.acknowledgment_number(), segment.acknowledgement);
        prop_assert_eq!(tcp.window_size(), segment.window);
        prop_assert_eq!(tcp.urgent_pointer(), segment.urgent);
        prop_assert_eq!(
            [tcp.cwr(), tcp.ece(), tcp.urg(), tcp.ack(), tcp.psh(), tcp.rst(), tcp.syn(), tcp.fin()],
            [
                flags.cwr, flags.ece, flags.urg, flags.ack,
                flags.psh, flags.rst, flags.syn, flags.fin,
            ],
        );
        prop_assert_eq!(tcp.payload(), &segment.payload);
        match sliced.net {
            Some(NetSlice::Ipv4(ip)) => {
                let header = ip.header();
                prop_assert_eq!(header.to_header().calc_header_checksum(), header.header_checksum());
                prop_assert_eq!(header.source_addr(), segment.source.ip());
                prop_assert_eq!(header.destination_addr(), segment.destination.ip());
                prop_assert_eq!((header.ttl(), header.ecn().value()), (17, segment.ecn as u8));
                prop_assert!(header.dont_fragment());
                let checksum = tcp.calc_checksum_ipv4(header.source(), header.destination());
                prop_assert_eq!(checksum, Ok(tcp.checksum()));
            }
            Some(NetSlice::Ipv6(ip)) => {
                let header = ip.header();
                prop_assert_eq!(header.source_addr(), segment.source.ip());
                prop_assert_eq!(header.destination_addr(), segment.destination.ip());
                let class = header.traffic_class();
                prop_assert_eq!((header.hop_limit(), class), (17, segment.ecn as u8));
                let checksum = tcp.calc_checksum_ipv6(header.source(), header.destination());
                prop_assert_eq!(checksum, Ok(tcp.checksum()));
            }
            _ => return Err(TestCaseError::fail("no IP")),
        }
    }

    #[test]
    fn options_from_any_bytes_fit_a_header_and_are_read_again_the_same(
        bytes in vec(any::<u8>(), 0..=MAX_OPTION_BYTES),
    ) {
        check_options(&bytes)?;
    }

    #[test]
    fn options_of_mptcp_with_any_body_fit_a_header_and_are_read_again_the_same(
        bodies in vec((0..16_u8, vec(any::<u8>(), 0..30)), 0..4),
    ) {
        let mut bytes = Vec::new();
        for (subtype, body) in bodies {
            bytes.extend([30, 3 + body.len() as u8, subtype << 4 | body.len() as u8 & 0x0f]);
            bytes.extend(body);
        }
        bytes.truncate(MAX_OPTION_BYTES);
        check_options(&bytes)?;
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        start in prop::sample::select(vec![0x45_u8, 0x46, 0x4f, 0x60, 0x6f]),
        protocol in prop::sample::select(vec![1_u8, 6, 17, 58, 47]),
        bytes in vec(any::<u8>(), 0..200),
    ) {
        // As a header, and as bytes whose checksums are made right and whose lengths are not.
        let mut header: ArrayVec<u8, MAX_HEADER_BYTES> = bytes.iter().copied().take(100).collect();
        for (place, value) in [(0, start), (6, protocol), (9, protocol)] {
            if let Some(byte) = header.get_mut(place) {
                *byte = value;
            }
        }
        let payload = bytes.iter().copied().skip(100).collect();
        let packet = Packet { header, payload };
        if let Ok(segment) = Segment::parse(packet.clone()) {
            prop_assert_eq!(packet.protocol(), 6);
            prop_assert_eq!(Segment::parse(segment.clone().into_packet(1)), Ok(segment));
        }
        if let Ok(read) = Packet::read(self::bytes(&packet)) {
            prop_assert!(read.ip_bytes() <= packet.ip_bytes());
            prop_assert_eq!(read.source(), packet.source());
        }
    }
}

/// Whatever was read can be written, and is then read the same.
fn check_options(bytes: &[u8]) -> Result<(), TestCaseError> {
    let options = Options::parse(bytes);
    prop_assert!(options.encoded_bytes() <= MAX_OPTION_BYTES);
    let segment = Segment {
        source: "10.0.0.1:1".parse().unwrap(),
        destination: "10.0.0.2:2".parse().unwrap(),
        sequence: 0,
        acknowledgement: 0,
        flags: Flags::default(),
        window: 0,
        urgent: 0,
        options,
        ecn: Ecn::NotCapable,
        payload: Bytes::new(),
    };
    prop_assert_eq!(Segment::parse(segment.clone().into_packet(1)), Ok(segment));
    Ok(())
}
