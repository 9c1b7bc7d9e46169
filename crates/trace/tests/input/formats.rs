//! The formats: records, blocks, interfaces and clocks.

use mptcplab_trace::input::Merge;

use crate::common::read::{Drops, Owned, frames, open, segments};
use crate::common::{Capture, Format, link, segment};
use crate::compression::{bzip2, gzip, lz4, xz, zstd};
use crate::{T, counting};

#[test]
fn frames_of_every_format_are_as_they_were_written() {
    for format in Format::all() {
        // More than the buffer holds at once.
        let (bytes, written) = counting(format, 3000);
        let total = bytes.len() as u64;
        let (read, state) = frames(bytes);
        assert!(read == written, "{format:?}");
        assert_eq!(
            state.format.name(),
            if format.pcapng { "pcapng" } else { "pcap" }
        );
        assert_eq!(state.compression, None);
        assert_eq!((state.bytes_read, state.frames), (total, 3000));
        assert_eq!(
            (state.first, state.last),
            (Some(T), Some(T + 2_999_000_000))
        );
        assert_eq!(state.damage, None);
    }
}

#[test]
fn bytes_that_come_a_few_at_a_time_are_waited_for() {
    for format in [Format::PCAP, Format::PCAPNG] {
        let (bytes, written) = counting(format, 100);
        let files = [
            (1, bytes.clone()),
            (7, gzip(&bytes)),
            (3, zstd(&bytes)),
            (1, xz(&bytes)),
            (5, bzip2(&bytes)),
            (1, lz4(&bytes)),
        ];
        for (at_once, bytes) in files {
            let mut merge = Merge::new([Drops::input(bytes, at_once)]).unwrap();
            let mut read = Vec::new();
            while let Some(frame) = merge.next() {
                read.push(Owned::from(frame));
            }
            assert!(read == written, "{format:?}, {at_once} at once");
        }
    }
}

#[test]
fn a_record_that_exceeds_the_buffer_is_read() {
    for format in [Format::PCAP, Format::PCAPNG] {
        let mut capture = Capture::new(format, link::ETHERNET);
        let large: Vec<u8> = (0..3_000_000_u32).map(|byte| (byte % 251) as u8).collect();
        capture.frame(0, b"before");
        capture.frame(1000, &large);
        capture.frame(2000, b"behind");
        let (read, state) = frames(capture.bytes);
        let captured: Vec<_> = read.iter().map(|frame| &frame.captured[..]).collect();
        assert!(captured == [b"before", &large[..], b"behind"]);
        assert_eq!(state.damage, None);
    }
}

#[test]
fn interfaces_have_their_own_clock_name_and_link_type() {
    let mut capture = Capture::new(Format::PCAPNG, link::ETHERNET);
    // Milliseconds since 100 s after the epoch, at most 4 bytes of each frame.
    let mut body = capture.as_halves(&[link::RAW, 0]);
    body.extend(capture.as_bytes(&[4]));
    body.extend(capture.option(2, b"wlan0"));
    body.extend(capture.option(3, b"a description"));
    body.extend(capture.option(9, &[3]));
    body.extend(capture.option(14, &100_u64.to_le_bytes()));
    body.extend(capture.option(0, &[]));
    capture.block(1, &body);
    capture.cut_frame(1, 5000, b"frame", 5);
    capture.cut_frame(0, 5000, b"frame", 5);
    let mut merge = open([capture.bytes]).unwrap();
    let first = Owned::from(merge.next().unwrap());
    assert_eq!(
        (first.at, first.interface, first.link_type),
        (105_000_000_000, 1, link::RAW)
    );
    let second = Owned::from(merge.next().unwrap());
    assert_eq!(
        (second.at, second.interface, second.link_type),
        (5000, 0, link::ETHERNET)
    );
    assert!(merge.next().is_none());
    let names = merge.interfaces().iter();
    let names: Vec<_> = names
        .map(|one| (one.file, one.name.as_deref(), one.link_type.0))
        .collect();
    assert_eq!(
        names,
        [(0, None, link::ETHERNET), (0, Some("wlan0"), link::RAW)]
    );
}

#[test]
fn sections_number_their_interfaces_anew_and_may_change_the_order_of_bytes() {
    let begin = |format| Capture::new(format, link::ETHERNET);
    let mut first = begin(Format::PCAPNG);
    first.interface(link::RAW, "eth1");
    first.cut_frame(1, 1000, b"a", 1);
    // The same first interface, another second one.
    let mut second = begin(Format {
        big_endian: true,
        ..Format::PCAPNG
    });
    second.interface(link::RAW, "eth2");
    second.cut_frame(0, 2000, b"b", 1);
    second.cut_frame(1, 3000, b"c", 1);
    let (read, state) = frames([first.bytes, second.bytes].concat());
    let told: Vec<_> = read
        .iter()
        .map(|frame| (frame.number, frame.interface))
        .collect();
    assert_eq!(told, [(1, 1), (2, 0), (3, 2)]);
    assert_eq!(state.damage, None);
}

#[test]
fn simple_and_obsolete_packet_blocks_are_read_and_others_passed_over() {
    let mut capture = Capture::new(Format::PCAPNG, link::RAW);
    capture.block(0x1234_5678, &[1; 1000]);
    capture.frame(7_000, b"enhanced");
    let mut simple = capture.as_bytes(&[6]);
    simple.extend(b"simple");
    capture.block(3, &simple);
    // Interface 0, 9 drops.
    let mut obsolete = capture.as_halves(&[0, 9]);
    obsolete.extend(capture.as_bytes(&[0, 8_000, 3, 60]));
    obsolete.extend(b"old");
    capture.block(2, &obsolete);
    let (read, state) = frames(capture.bytes);
    assert_eq!(state.damage, None);
    let told: Vec<_> = read
        .iter()
        .map(|frame| {
            (
                frame.number,
                frame.at,
                &frame.captured[..],
                frame.original_bytes,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, 7_000, &b"enhanced"[..], 8),
            (2, 7_000, b"simple", 6),
            (3, 8_000, b"old", 60),
        ]
    );
}

#[test]
fn an_unknown_block_may_be_larger_than_any_buffer() {
    let mut capture = Capture::new(Format::PCAPNG, link::RAW);
    capture.block(10, &vec![0; 40_000_000]);
    capture.frame(1, b"behind");
    let (read, state) = frames(capture.bytes);
    assert_eq!(read[0].captured, b"behind");
    assert_eq!(state.damage, None);
}

#[test]
fn segments_of_every_format_and_link_type_have_their_fields() {
    let cases = Format::all().flat_map(|format| link::ALL.map(|link_type| (format, link_type)));
    for (format, link_type) in cases {
        let mut capture = Capture::new(format, link_type);
        let v4 = segment("10.0.0.1:1000 > 10.0.0.2:80 PA seq=7 ack=9 win=11 len=5");
        let v6 = segment("[fd00::1]:1000 > [fd00::2]:80 SF seq=4000000000");
        capture.add(T as u64, &v4);
        capture.add(T as u64 + 1000, &v6);
        let (read, skipped) = segments(capture.bytes);
        assert_eq!(skipped.total(), 0);
        let [first, second] = &read[..] else {
            panic!("{format:?} {link_type}: {read:?}");
        };
        for (read, written) in [(first, &v4), (second, &v6)] {
            assert_eq!(read.source, written.source);
            assert_eq!(read.destination, written.destination);
            assert_eq!(read.sequence, written.sequence);
            assert_eq!(read.acknowledgement, written.acknowledgement);
            assert_eq!(read.flags, written.flags);
            assert_eq!(read.window, written.window);
            assert_eq!(read.payload_bytes as usize, written.payload.len());
            assert_eq!(read.hop_limit, 64);
            assert_eq!(read.interface, 0);
        }
        assert_eq!([first.at, second.at], [T, T + 1000]);
        assert_eq!([first.frame, second.frame], [1, 2]);
        assert_eq!([first.packet_bytes, second.packet_bytes], [45, 60]);
        assert_eq!(
            [first.identification, second.identification],
            [Some(0), None]
        );
    }
}
