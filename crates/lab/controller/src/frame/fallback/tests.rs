use bytes::Bytes;
use mptcplab_wire::option::{Capable, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options, Packet, Segment, Timestamps};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// MP_CAPABLE as a SYN has it.
const CAPABLE: Capable = Capable {
    version: 1,
    checksum: false,
    extension: false,
    no_initial_address: false,
    hmac: true,
    sender_key: None,
    receiver_key: None,
    data_bytes: None,
    data_checksum: None,
};

/// The SYN that Linux opens a connection of MPTCP by, of IPv4 or IPv6.
fn syn(is_v6: bool) -> Segment {
    let address = |host| match is_v6 {
        true => format!("[fd00::{host}]:{host}000"),
        false => format!("10.0.0.{host}:{host}000"),
    };
    let [source, destination] = [1, 2].map(|host| address(host).parse().expect("an address"));
    let mut options = Options {
        max_segment_bytes: Some(1460),
        window_shift: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 77, echo: 0 }),
        ..Options::default()
    };
    options.mptcp.push(MptcpOption::Capable(CAPABLE));
    Segment {
        source,
        destination,
        sequence: 0xfedc_ba98,
        acknowledgement: 0,
        flags: Flags {
            syn: true,
            ..Flags::default()
        },
        window: 64_240,
        urgent: 0,
        options,
        ecn: Ecn::NotCapable,
        payload: Bytes::new(),
    }
}

fn frame(segment: &Segment) -> Vec<u8> {
    let mut frame = Header {
        destination: [2; 6],
        source: [4; 6],
        ether_type: match segment.source.is_ipv4() {
            true => ether_type::IPV4,
            false => ether_type::IPV6,
        },
    }
    .frame();
    segment.clone().into_packet(64).write_to(&mut frame);
    frame
}

/// A segment, whose checksum is looked at.
fn read(frame: &[u8]) -> Segment {
    let packet = Packet::read(Bytes::copy_from_slice(&frame[14..])).expect("checksums are right");
    Segment::parse(packet).expect("a segment")
}

/// The SYN of IPv4 with other options in place of its own, and a checksum that is right.
fn with_options(options: &[u8]) -> Vec<u8> {
    let mut frame = frame(&syn(false));
    frame.truncate(14 + IPV4_BYTES + TCP_BYTES);
    frame.extend(options);
    let length = (frame.len() - 14) as u16;
    frame[16..18].copy_from_slice(&length.to_be_bytes());
    frame[24..26].fill(0);
    let sum = internet(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame[46] = ((TCP_BYTES + options.len()) * 4) as u8;
    frame[50..52].fill(0);
    let sum = !checksum_of(&frame);
    frame[50..52].copy_from_slice(&(!sum).to_be_bytes());
    frame
}

/// The checksum of the segment of a frame of IPv4 over its pseudo-header: zero where it is right.
fn checksum_of(frame: &[u8]) -> u16 {
    let segment = &frame[34..];
    let length = (segment.len() as u32).to_be_bytes();
    internet(&[&frame[26..34], &[0, TCP, length[2], length[3]], segment].concat())
}

#[test]
fn the_option_alone_goes_and_the_checksum_stays_right() {
    for is_v6 in [false, true] {
        let syn = syn(is_v6);
        let mut expected = syn.clone();
        expected.options.mptcp.clear();
        let with = frame(&syn);
        let without = without_capable(&with).expect("a usual SYN");
        assert_eq!(without.len(), with.len());
        assert_eq!(read(&without), expected);
        // There is nothing left to take away.
        assert_eq!(without_capable(&without), None);
        // A frame may be longer than its packet.
        let padded = [&with[..], &[0; 9]].concat();
        let expected = [&without[..], &[0; 9]].concat();
        assert_eq!(without_capable(&padded), Some(expected));
    }
}

#[test]
fn a_checksum_that_was_wrong_stays_wrong_by_as_much() {
    let mut frame = frame(&syn(false));
    frame[50] ^= 0x21;
    let without = without_capable(&frame).expect("a usual SYN");
    assert_ne!(checksum_of(&frame), 0);
    assert_eq!(checksum_of(&without), checksum_of(&frame));
}

#[test]
fn the_place_of_the_option_does_not_matter() {
    let capable = [30, 4, 1, 0x81];
    for before in 0..=3 {
        let nops = [1; 4];
        let options = [&nops[..before], &capable, &nops[before..]].concat();
        let frame = with_options(&options);
        assert_eq!(checksum_of(&frame), 0);
        let without = without_capable(&frame).expect("a usual SYN");
        assert_eq!(without[54..], [1; 8]);
        assert_eq!(checksum_of(&without), 0, "{before}");
    }
}

#[test]
fn an_unusual_syn_is_left_alone() {
    let usual = syn(false);
    let unusual = |change: &dyn Fn(&mut Segment)| {
        let mut segment = usual.clone();
        change(&mut segment);
        without_capable(&frame(&segment))
    };
    assert!(unusual(&|_| {}).is_some());
    // ECN is asked for.
    assert!(unusual(&|one| (one.flags.ece, one.flags.cwr) = (true, true)).is_some());
    assert_eq!(
        unusual(&|one| one.payload = Bytes::from_static(b"GET")),
        None
    );
    assert_eq!(unusual(&|one| one.flags.ack = true), None);
    assert_eq!(unusual(&|one| one.flags.rst = true), None);
    assert_eq!(unusual(&|one| one.flags.fin = true), None);
    assert_eq!(unusual(&|one| one.flags.syn = false), None);
    assert_eq!(unusual(&|one| one.options.mptcp.clear()), None);
    let of_other = |capable| MptcpOption::Capable(capable);
    for other in [
        Capable {
            version: 2,
            ..CAPABLE
        },
        Capable {
            sender_key: Some(1),
            ..CAPABLE
        },
    ] {
        assert_eq!(unusual(&|one| one.options.mptcp[0] = of_other(other)), None);
        assert_eq!(
            unusual(&|one| one.options.mptcp.push(of_other(other))),
            None
        );
    }
    let capable = [30, 4, 1, 0x81];
    for options in [
        // A cookie of TCP Fast Open, and the question for one.
        &[&capable[..], &[34, 6, 1, 2, 3, 4, 1, 1]].concat()[..],
        &[&capable[..], &[34, 2, 1, 1]].concat(),
        // TCP-AO, and the signature of MD5.
        &[&capable[..], &[29, 4, 1, 1]].concat(),
        &[&[1, 1][..], &capable, &[19, 18], &[0; 16]].concat(),
        // Lengths of nothing, and beyond the header.
        &[&capable[..], &[2, 0, 1, 1]].concat(),
        &[&capable[..], &[2, 1, 1, 1]].concat(),
        &[&capable[..], &[1, 1, 1, 2]].concat(),
        &[&capable[..], &[2, 5, 1, 1]].concat(),
        &[1, 30, 4, 1],
        // Behind the end of the options.
        &[&[0, 0, 0, 0][..], &capable].concat(),
        &[capable, capable].concat(),
    ] {
        assert_eq!(without_capable(&with_options(options)), None, "{options:?}");
    }
    let mut fragment = frame(&usual);
    fragment[20] = 0x20;
    assert_eq!(without_capable(&fragment), None);
    fragment[20..22].copy_from_slice(&[0, 1]);
    assert_eq!(without_capable(&fragment), None);
}

proptest! {
    #[test]
    fn any_bytes_are_left_alone_or_lose_one_option(
        is_v6: bool,
        changes in vec((0_usize..100, any::<u8>()), 0..4),
        length in 0_usize..110,
    ) {
        let mut bytes = frame(&syn(is_v6));
        for (at, byte) in changes {
            if let Some(changed) = bytes.get_mut(at) {
                *changed = byte;
            }
        }
        bytes.truncate(length);
        if let Some(without) = without_capable(&bytes) {
            prop_assert_eq!(without.len(), bytes.len());
            let header = if is_v6 { IPV6_BYTES } else { IPV4_BYTES };
            let checksum = 14 + header + CHECKSUM;
            let differs = |at: &usize| without[*at] != bytes[*at];
            let changed: Vec<usize> = (0..bytes.len()).filter(differs).collect();
            let (sums, options): (Vec<usize>, Vec<usize>) =
                changed.into_iter().partition(|at| (checksum..checksum + 2).contains(at));
            // The length, 4, always differs from a NOP; the subtype's byte, 1, is one.
            let first = options[0];
            prop_assert_eq!(&bytes[first..first + 3], [30, 4, 1]);
            prop_assert_eq!(&without[first..first + 4], [1; 4]);
            prop_assert!(options.iter().all(|at| (first..first + 4).contains(at)));
            prop_assert!(!sums.is_empty());
            // The checksum is as right as before.
            let segment = 14 + header..;
            let sum = |frame: &[u8]| internet(&frame[segment.clone()]);
            prop_assert_eq!(sum(&without) % 0xffff, sum(&bytes) % 0xffff);
        }
    }

    #[test]
    fn no_bytes_at_all_are_too_strange(bytes in vec(any::<u8>(), 0..150)) {
        let _ = without_capable(&bytes);
    }

    #[test]
    fn any_options_with_a_right_checksum_keep_it(
        before in vec(any::<u8>(), 0..12),
        after in vec(any::<u8>(), 0..12),
    ) {
        let mut options = [&before[..], &[30, 4, 1, 0x81], &after].concat();
        options.resize(options.len().next_multiple_of(4), 0);
        let frame = with_options(&options);
        if let Some(without) = without_capable(&frame) {
            prop_assert_eq!(checksum_of(&without), 0);
        }
    }
}
