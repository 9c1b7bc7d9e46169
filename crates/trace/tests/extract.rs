//! Frames that are taken out of captures: written as pcapng, and their data.

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use common::read::{Owned, frames, open};
use common::{Capture, Format, link, segment};
use mptcplab_trace::{payloads, write_chosen};
use proptest::prelude::*;

/// Some nanoseconds since the epoch, as whole microseconds.
const T: u64 = 1_700_000_000_123_456_000;

fn unheard(_: u64, _: Option<u64>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Writes files into a folder of this test's own.
fn kept(name: &str, files: &[Vec<u8>]) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let paths = (0..files.len()).map(|file| folder.join(file.to_string()));
    let paths: Vec<PathBuf> = paths.collect();
    for (path, bytes) in paths.iter().zip(files) {
        fs::write(path, bytes).unwrap();
    }
    paths
}

fn written(name: &str, files: &[Vec<u8>], chosen: Vec<Vec<u64>>) -> (Vec<u8>, u64) {
    let mut to = Vec::new();
    let count = write_chosen(&kept(name, files), chosen, &mut to, unheard).unwrap();
    (to, count)
}

#[test]
fn chosen_frames_are_those_that_were_captured_in_the_order_of_time() {
    for format in Format::all() {
        let mut captures = [
            Capture::new(format, link::ETHERNET),
            Capture::new(format, link::RAW),
        ];
        for number in 0..100 {
            let bytes = vec![number as u8; 60 + number];
            let at = T + 1_000_000 * number as u64;
            captures[number % 2].cut_frame(0, at, &bytes, 80);
        }
        let files = captures.map(|capture| capture.bytes);
        let mut expected: Vec<Owned> = files
            .iter()
            .flat_map(|bytes| frames(bytes.clone()).0)
            .filter(|frame| matches!(frame.number, 3 | 20 | 50))
            .collect();
        expected.sort_by_key(|frame| frame.at);
        let chosen = vec![vec![3, 20, 50, 1000], vec![3, 20, 50]];
        let (bytes, count) = written(&format!("chosen {format:?}"), &files, chosen);
        assert_eq!(count, 6);
        let (read, state) = frames(bytes);
        assert_eq!(state.damage, None);
        assert_eq!(read.len(), expected.len());
        for (number, (read, expected)) in (1..).zip(read.iter().zip(expected)) {
            assert_eq!(
                *read,
                Owned {
                    number,
                    interface: read.interface,
                    ..expected
                }
            );
        }
    }
}

#[test]
fn names_of_interfaces_and_comments_of_packets_are_kept_in_either_byte_order() {
    for big_endian in [false, true] {
        let format = Format {
            big_endian,
            ..Format::PCAPNG
        };
        let mut capture = Capture::new(format, link::ETHERNET);
        let wifi = capture.interface(link::RAW, "wifi");
        let mut body = capture.as_bytes(&[wifi, (T >> 32) as u32, T as u32, 3, 3]);
        body.extend(b"abc\0");
        body.extend(capture.option(1, b"a comment"));
        body.extend(capture.option(2, &capture.as_bytes(&[7])));
        body.extend(capture.option(0, &[]));
        capture.block(6, &body);
        let name = format!("comments {big_endian}");
        let (bytes, count) = written(&name, &[capture.bytes], vec![vec![1]]);
        assert_eq!(count, 1);
        let mut merge = open([bytes]).unwrap();
        let options = [
            &[1, 0, 9, 0][..],
            b"a comment\0\0\0",
            &[2, 0, 4, 0, 7, 0, 0, 0],
        ];
        assert_eq!(merge.next().unwrap().captured, b"abc");
        assert_eq!(merge.current().unwrap().1, options.concat());
        // An interface without a chosen frame is not in it.
        let names: Vec<_> = merge
            .interfaces()
            .iter()
            .map(|one| one.name.as_deref())
            .collect();
        assert_eq!(names, [Some("wifi")]);
    }
}

#[test]
fn nothing_chosen_is_an_empty_capture() {
    let mut capture = Capture::new(Format::PCAP, link::RAW);
    capture.frame(T, b"frame");
    let (bytes, count) = written("nothing", &[capture.bytes], Vec::new());
    assert_eq!((count, frames(bytes).0.len()), (0, 0));
}

#[test]
fn the_data_of_a_segment_is_what_was_captured_of_it() {
    let mut capture = Capture::new(Format::PCAPNG, link::ETHERNET);
    let one = segment("10.0.0.1:1000 > 10.0.0.2:80 PA seq=1 ack=1 len=9");
    capture.add(T, &one);
    let frame = link::frame(link::ETHERNET, &common::packet(&one));
    capture.cut_frame(0, T, &frame, frame.len() - 5);
    capture.frame(T, b"no segment");
    let files = kept("data", &[capture.bytes]);
    let mut found = Vec::new();
    payloads(&files, vec![vec![1, 2, 3]], |file, frame, data| {
        found.push((file, frame, data.to_vec()));
        ControlFlow::Continue(())
    })
    .unwrap();
    let expected = [
        (0, 1, one.payload.to_vec()),
        (0, 2, one.payload[..4].to_vec()),
        (0, 3, Vec::new()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_file_that_is_gone_is_named() {
    let files = [PathBuf::from("/nowhere/at/all.pcap")];
    let error = write_chosen(&files, vec![vec![1]], Vec::new(), unheard).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/nowhere/at/all.pcap: there is no such file"
    );
}

proptest! {
    #[test]
    fn options_of_any_bytes_are_written_so_that_they_can_be_read(
        options in proptest::collection::vec(any::<u8>(), 0..200),
        of_interface in proptest::collection::vec(any::<u8>(), 0..200),
        big_endian: bool,
    ) {
        let format = Format { big_endian, ..Format::PCAPNG };
        let mut capture = Capture::new(format, link::ETHERNET);
        let mut described = capture.as_halves(&[link::RAW, 0]);
        described.extend([0; 4]);
        described.extend(capture.option(1, &of_interface));
        capture.block(1, &described);
        let mut body = capture.as_bytes(&[1, 0, 5, 4, 4]);
        body.extend(b"data");
        body.extend(options);
        capture.block(6, &body);
        let (bytes, count) = written("any options", &[capture.bytes], vec![vec![1]]);
        prop_assert_eq!(count, 1);
        let (read, state) = frames(bytes);
        prop_assert_eq!(state.damage, None);
        prop_assert_eq!(&read[0].captured, b"data");
    }
}
