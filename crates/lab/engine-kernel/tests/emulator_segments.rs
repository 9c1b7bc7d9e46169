//! Large frames are cut into exactly the packets that a network card would send.

mod emulator_frames;

use emulator_frames::{Ip, Large, Transport, ipv4, ipv6, tcp};
use mptcplab_engine_kernel::frames::segments::{
    ETHERNET_BYTES, Frame, OffloadHeader, with_checksum,
};
use proptest::prelude::*;

/// Every packet of a frame, cut out one by one.
fn wire(offload: OffloadHeader, bytes: impl Into<Vec<u8>>) -> Vec<Vec<u8>> {
    let frame = Frame::new(offload, bytes.into());
    (0..frame.packets())
        .map(|index| {
            let (offload, bytes) = frame.carve(index..index + 1);
            assert_eq!(bytes.len(), 14 + frame.ip_bytes(index) as usize);
            with_checksum(&offload, bytes)
        })
        .collect()
}

fn expected(large: &Large, range: std::ops::Range<usize>) -> Vec<Vec<u8>> {
    range.map(|index| large.packet(index)).collect()
}

/// Headers of a large frame: both families, with and without options, TCP with every flag.
fn large() -> impl Strategy<Value = Large> {
    let ip = prop_oneof![
        any::<(u16, bool)>().prop_map(|(id, options)| {
            let Ip::V4(mut header) = ipv4(id) else {
                unreachable!("asked for above")
            };
            if options {
                // Router alert (RFC 2113).
                header.options = [148, 4, 0, 0].into();
            }
            Ip::V4(header)
        }),
        Just(ipv6()),
    ];
    let transport = prop_oneof![
        (any::<u32>(), any::<[bool; 4]>(), any::<bool>()).prop_map(|(sequence, flags, bare)| {
            let mut header = tcp(sequence);
            [header.fin, header.psh, header.cwr, header.ece] = flags;
            if bare {
                header.options = Default::default();
            }
            Transport::Tcp(header)
        }),
        Just(Transport::Udp),
    ];
    let payload = (1_u16..=1448, 2_usize..=44, any::<usize>());
    (ip, transport, payload, any::<u8>()).prop_map(
        |(ip, transport, (gso_bytes, packets, last), salt)| {
            let length = usize::from(gso_bytes) * (packets - 1) + 1 + last % usize::from(gso_bytes);
            let payload = (0..length)
                .map(|at| (at as u8).wrapping_mul(31) ^ salt)
                .collect();
            Large {
                ip,
                transport,
                payload,
                gso_bytes,
            }
        },
    )
}

proptest! {
    #[test]
    fn every_packet_is_the_one_that_the_reference_makes(large in large()) {
        let (offload, bytes) = large.frame();
        prop_assert_eq!(wire(offload, bytes), expected(&large, 0..large.packets()));
    }

    #[test]
    fn a_run_of_packets_stands_for_exactly_these(large in large(), ends in any::<[prop::sample::Index; 2]>()) {
        let (offload, bytes) = large.frame();
        let frame = Frame::new(offload, bytes);
        let mut ends = ends.map(|end| end.index(frame.packets()));
        ends.sort_unstable();
        let range = ends[0]..ends[1] + 1;
        let (offload, bytes) = frame.carve(range.clone());
        prop_assert!(usize::from(offload.header_bytes) <= bytes.len());
        prop_assert_eq!(wire(offload, bytes), expected(&large, range));
    }

    #[test]
    fn the_checksum_of_a_run_covers_its_own_length(large in large(), end in any::<prop::sample::Index>()) {
        // A card adds the sum of the bytes to the partial checksum: over the whole run as if it
        // were one packet, the reference's checksum must come out.
        let frame = { let (offload, bytes) = large.frame(); Frame::new(offload, bytes) };
        let end = end.index(frame.packets()) + 1;
        let (offload, bytes) = frame.carve(0..end);
        let at = usize::from(offload.checksum_start + offload.checksum_offset);
        let summed = with_checksum(&offload, bytes);
        let headers = summed.len() - large.part(0..end).len();
        let mut one = Large { payload: large.part(0..end).to_vec(), gso_bytes: u16::MAX, ..large.clone() };
        if let Transport::Tcp(header) = &mut one.transport {
            let last = end == frame.packets();
            header.fin &= last;
            header.psh &= last;
        }
        let expected = one.packet(0);
        prop_assert_eq!(&summed[..headers], &expected[..headers], "checksum at {}", at);
        prop_assert_eq!(&summed[headers..], &expected[headers..]);
    }

    #[test]
    fn hostile_offload_headers_never_panic(
        header in any::<[u8; OffloadHeader::BYTES]>(),
        gso_type in prop::sample::select(vec![0_u8, 1, 3, 4, 5, 0x81, 0x84, 0xff]),
        start in 0_u16..80,
        mut bytes in prop::collection::vec(any::<u8>(), 14..400),
        ether_type in prop::sample::select(vec![0x0800_u16, 0x86dd, 0x0806]),
    ) {
        bytes[12..14].copy_from_slice(&ether_type.to_be_bytes());
        for tame in 0..4 {
            let mut offload = OffloadHeader::from_bytes(header);
            if tame > 0 {
                (offload.flags, offload.gso_type) = (1, gso_type);
            }
            if tame > 1 {
                (offload.checksum_start, offload.gso_bytes) = (start, offload.gso_bytes % 64);
            }
            if tame > 2 {
                offload.checksum_offset = if gso_type == 5 { 6 } else { 16 };
            }
            let frame = Frame::new(offload, bytes.clone());
            let packets = frame.packets();
            let total: usize = wire(offload, bytes.clone()).iter().map(Vec::len).sum();
            prop_assert!(packets >= 1 && total >= bytes.len());
            if packets > 1 {
                frame.carve(1..packets);
            }
        }
    }

    #[test]
    fn the_offload_header_is_read_as_it_is_written(bytes in any::<[u8; OffloadHeader::BYTES]>()) {
        prop_assert_eq!(OffloadHeader::from_bytes(bytes).to_bytes(), bytes);
    }
}

#[test]
fn a_frame_shorter_than_its_ethernet_header_is_one_packet() {
    for length in 0..14 {
        let offload = OffloadHeader {
            flags: 1,
            gso_type: 1,
            gso_bytes: 1,
            ..Default::default()
        };
        let frame = Frame::new(offload, vec![8; length]);
        assert_eq!((frame.packets(), frame.ip_bytes(0)), (1, 0));
        assert_eq!(frame.carve(0..1), (offload, vec![8; length].into()));
    }
}

#[test]
fn sequence_numbers_and_identifications_wrap() {
    let mut header = tcp(u32::MAX - 1000);
    header.psh = true;
    let large = Large {
        ip: ipv4(u16::MAX - 1),
        transport: Transport::Tcp(header),
        payload: vec![7; 3 * 1000 + 1],
        gso_bytes: 1000,
    };
    let (offload, bytes) = large.frame();
    let packets = wire(offload, bytes);
    let number =
        |packet: &[u8], at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
    let identifications: Vec<u32> = packets
        .iter()
        .map(|packet| number(packet, 16) & 0xffff)
        .collect();
    assert_eq!(identifications, [0xfffe, 0xffff, 0, 1]);
    let sequences: Vec<u32> = packets.iter().map(|packet| number(packet, 38)).collect();
    assert_eq!(sequences, [u32::MAX - 1000, u32::MAX, 999, 1999]);
    let flags: Vec<u8> = packets.iter().map(|packet| packet[47]).collect();
    assert_eq!(flags, [0x10, 0x10, 0x10, 0x18]);
    let lengths: Vec<usize> = packets.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1094, 1094, 1094, 95]);
}

#[test]
fn a_frame_whose_first_bytes_held_payload_is_cut_to_one_that_the_kernel_takes() {
    // The kernel says how much of the frame lies in one piece; of a small frame that is all of it.
    let large = Large {
        ip: ipv4(1),
        transport: Transport::Udp,
        payload: vec![1; 300],
        gso_bytes: 100,
    };
    let (mut offload, bytes) = large.frame();
    offload.header_bytes = bytes.len() as u16;
    let frame = Frame::new(offload, bytes);
    let (offload, bytes) = frame.carve(1..3);
    assert_eq!((offload.header_bytes, bytes.len()), (42, 242));
}

#[test]
fn headers_that_contradict_their_offloads_leave_the_frame_whole() {
    let large = Large {
        ip: ipv4(1),
        transport: Transport::Tcp(tcp(1)),
        payload: vec![1; 300],
        gso_bytes: 100,
    };
    let (offload, bytes) = large.frame();
    assert_eq!(Frame::new(offload, bytes.clone()).packets(), 3);
    let contradictions = [
        OffloadHeader {
            flags: 0,
            ..offload
        },
        OffloadHeader {
            gso_type: 4,
            ..offload
        },
        OffloadHeader {
            gso_type: 3,
            ..offload
        },
        OffloadHeader {
            gso_bytes: 0,
            ..offload
        },
        OffloadHeader {
            checksum_start: 38,
            ..offload
        },
        OffloadHeader {
            checksum_start: 60_000,
            ..offload
        },
        OffloadHeader {
            checksum_offset: 6,
            ..offload
        },
    ];
    for offload in contradictions {
        let frame = Frame::new(offload, bytes.clone());
        assert_eq!(frame.packets(), 1, "{offload:?}");
        assert_eq!(frame.carve(0..1), (offload, bytes.clone().into()));
    }
}

#[test]
fn a_packet_beyond_the_mtu_is_handed_over_as_one_joined_segment() {
    for ip in [ipv4(7), ipv6()] {
        let large = Large {
            ip,
            transport: Transport::Tcp(tcp(1)),
            payload: vec![7; 4000],
            gso_bytes: 4000,
        };
        let packet = large.packet(0);
        let small = Frame::one_packet(packet.clone(), 9000);
        assert_eq!(small.whole(), (&OffloadHeader::default(), &packet[..]));
        let joined = Frame::one_packet(packet.clone(), 1500);
        assert_eq!(joined.packets(), 1);
        let (offload, bytes) = joined.carve(0..1);
        let headers = packet.len() - 4000 - ETHERNET_BYTES;
        assert_eq!(usize::from(offload.gso_bytes), 1500 - headers);
        // The checksum that the kernel is asked to complete is the one that it had.
        assert_eq!(with_checksum(&offload, bytes), packet);
    }
    // The kernel is not asked to cut what it could not.
    let mut udp = Large {
        ip: ipv4(7),
        transport: Transport::Udp,
        payload: vec![7; 4000],
        gso_bytes: 4000,
    }
    .packet(0);
    let whole = Frame::one_packet(udp.clone(), 1500);
    assert_eq!(whole.whole(), (&OffloadHeader::default(), &udp[..]));
    udp.truncate(ETHERNET_BYTES);
    assert_eq!(Frame::one_packet(udp, 0).packets(), 1);
}
