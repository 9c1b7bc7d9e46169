//! Captures of every format, read frame by frame.

mod common;

use std::io::{Cursor, Write};

use common::read::{Drops, Owned, frames, open, segments};
use common::{Capture, Format, link, segment};
use mptcplab_trace::input::{Compression, Merge};
use proptest::prelude::*;

/// A moment, in nanoseconds, that microseconds can tell.
const T: i64 = 1_700_000_000_123_456_000;

/// Frames of every length up to some hundred bytes, a millisecond apart.
fn counting(format: Format, count: usize) -> (Vec<u8>, Vec<Owned>) {
    let mut capture = Capture::new(format, link::RAW);
    let frames = (0..count).map(|number| {
        let whole: Vec<u8> = (0..number % 700)
            .map(|byte| (byte + number) as u8)
            .collect();
        let at = T + number as i64 * 1_000_000;
        let captured = whole.len().min(600);
        capture.cut_frame(0, at as u64, &whole, captured);
        Owned {
            at,
            number: number as u64 + 1,
            interface: 0,
            link_type: link::RAW,
            captured: whole[..captured].to_vec(),
            original_bytes: whole.len() as u32,
        }
    });
    let frames = frames.collect();
    (capture.bytes, frames)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

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
fn compressed_files_are_recognised_by_their_content() {
    let (bytes, written) = counting(Format::PCAPNG, 1000);
    let (front, back) = bytes.split_at(bytes.len() / 3);
    let skippable = [
        &[0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7][..],
        &zstd(&bytes),
    ]
    .concat();
    let files = [
        (gzip(&bytes), Compression::Gzip),
        ([gzip(front), gzip(back)].concat(), Compression::Gzip),
        (zstd(&bytes), Compression::Zstd),
        ([zstd(front), zstd(back)].concat(), Compression::Zstd),
        (skippable, Compression::Zstd),
    ];
    for (file, compression) in files {
        let total = file.len() as u64;
        let (read, state) = frames(file);
        assert!(read == written, "{compression:?}");
        assert_eq!(state.compression, Some(compression));
        assert_eq!(state.bytes_read, total);
        assert_eq!(state.damage, None);
    }
}

#[test]
fn bytes_that_come_a_few_at_a_time_are_waited_for() {
    for format in [Format::PCAP, Format::PCAPNG] {
        let (bytes, written) = counting(format, 100);
        for (at_once, bytes) in [(1, bytes.clone()), (7, gzip(&bytes)), (3, zstd(&bytes))] {
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
fn several_files_are_read_in_order_of_time() {
    let file = |format, times: &[u64]| {
        let mut capture = Capture::new(format, link::RAW);
        for &at in times {
            capture.frame(at * 1000, &[at as u8]);
        }
        capture.bytes
    };
    let files = [
        // Not in order itself: it keeps its order.
        file(Format::PCAP, &[10, 20, 15, 30]),
        file(Format::PCAPNG, &[]),
        gzip(&file(Format::PCAPNG, &[5, 10, 18, 40])),
        file(
            Format {
                nanos: true,
                ..Format::PCAP
            },
            &[10, 10, 41],
        ),
    ];
    let mut merge = open(files).unwrap();
    let mut told = Vec::new();
    while let Some(frame) = merge.next() {
        let told_now = (frame.at / 1000, frame.number, frame.interface);
        let file = merge.interfaces()[told_now.2 as usize].file;
        told.push((told_now.0, told_now.1, file));
    }
    assert_eq!(
        told,
        [
            (5, 1, 2),
            (10, 1, 0),
            (10, 2, 2),
            (10, 1, 3),
            (10, 2, 3),
            (18, 3, 2),
            (20, 2, 0),
            (15, 3, 0),
            (30, 4, 0),
            (40, 4, 2),
            (41, 3, 3),
        ]
    );
    let counts: Vec<_> = merge.files().iter().map(|file| file.frames).collect();
    assert_eq!(counts, [4, 0, 4, 3]);
}

#[test]
fn what_is_known_of_a_file_counts_what_was_given() {
    let (bytes, _) = counting(Format::PCAP, 10);
    let mut merge = open([bytes.clone(), bytes]).unwrap();
    assert_eq!(merge.files()[0].first, None);
    merge.next();
    let told = |merge: &mut Merge| {
        merge
            .files()
            .iter()
            .map(|file| file.frames)
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&mut merge), [1, 0]);
    merge.next();
    assert_eq!(told(&mut merge), [1, 1]);
}

#[test]
fn files_are_opened_by_path() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (bytes, written) = counting(Format::PCAP, 20);
    let path = folder.join("opened.pcap");
    std::fs::write(&path, &bytes).unwrap();
    let mut merge = Merge::open(std::slice::from_ref(&path)).unwrap();
    assert_eq!(merge.files()[0].bytes_total, Some(bytes.len() as u64));
    assert_eq!(merge.next().map(Owned::from).as_ref(), written.first());
    assert_eq!(merge.files()[0].path, path);

    let refused = |path: std::path::PathBuf| Merge::open(&[path]).err().unwrap().to_string();
    let missing = folder.join("missing.pcap");
    let name = missing.display().to_string();
    assert_eq!(refused(missing), format!("{name}: there is no such file"));
    let name = folder.display().to_string();
    assert_eq!(
        refused(folder.into()),
        format!("{name}: is a directory, not a capture")
    );
}

#[test]
fn what_is_no_capture_is_refused_with_what_it_is() {
    let refused = |bytes: &[u8]| {
        let mut input = mptcplab_trace::input::Input::from(Cursor::new(bytes.to_vec()));
        input.path = "notes.txt".into();
        Merge::new([input]).err().expect("a refusal").to_string()
    };
    let can = "pcap and pcapng can be read, also compressed with gzip or zstd";
    assert_eq!(
        refused(b"Dear \"diary\",\n"),
        format!("notes.txt: not a capture: begins with \"Dear \\\"diary\\\",\\n\"; {can}")
    );
    assert_eq!(
        refused(&gzip(b"Dear")),
        format!("notes.txt: not a capture: decompressed by gzip, begins with \"Dear\"; {can}")
    );
    assert_eq!(
        refused(&[0x7f; 100]),
        format!(
            "notes.txt: not a capture: begins with \"{}\"; {can}",
            "\\x7f".repeat(24)
        )
    );
    assert_eq!(refused(b""), "notes.txt: not a capture: it is empty");
    assert_eq!(refused(&zstd(b"")), "notes.txt: not a capture: it is empty");
    let editcap = "which is not read: `editcap -F pcapng` of Wireshark makes a pcapng file of it";
    for magic in [*b"\xa1\xb2\xcd\x34", *b"\x34\xcd\xb2\xa1"] {
        assert_eq!(
            refused(&magic),
            format!("notes.txt: pcap as modified by Alexey Kuznetzov, {editcap}")
        );
    }
    assert_eq!(
        refused(b"snoop\0\0\0\0\0\0\x02"),
        format!("notes.txt: a capture of snoop, {editcap}")
    );
    let corrupt = refused(b"\x1f\x8b\x09\x09\x09\x09\x09\x09\x09\x09\x09\x09");
    assert!(
        corrupt.starts_with("notes.txt: cannot be decompressed: gzip: "),
        "{corrupt}"
    );
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

proptest! {
    #[test]
    fn frames_of_any_files_in_order_come_out_in_order(
        files in prop::collection::vec(prop::collection::vec(0_u64..50, 0..20), 0..90),
    ) {
        let mut expected = Vec::new();
        let captures = files.iter().enumerate().map(|(file, times)| {
            let mut times = times.clone();
            times.sort_unstable();
            let mut capture = Capture::new(Format::PCAPNG, link::RAW);
            for (number, &at) in times.iter().enumerate() {
                capture.frame(at, &[at as u8]);
                expected.push((at as i64, file, number as u64 + 1));
            }
            capture.bytes
        });
        let mut merge = open(captures.collect::<Vec<_>>()).unwrap();
        expected.sort_unstable();
        let mut read = Vec::new();
        while let Some(frame) = merge.next() {
            prop_assert_eq!(frame.captured, &[frame.at as u8]);
            let (at, number, interface) = (frame.at, frame.number, frame.interface);
            read.push((at, merge.interfaces()[interface as usize].file, number));
        }
        prop_assert_eq!(read, expected);
    }
}
