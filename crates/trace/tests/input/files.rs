//! Several files together, and files that are no captures.

use std::io::Cursor;

use mptcplab_trace::input::{Input, Merge};
use proptest::prelude::*;

use crate::common::read::{Owned, open};
use crate::common::{Capture, Format, link};
use crate::compression::{gzip, zstd};
use crate::counting;

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
        let mut input = Input::from(Cursor::new(bytes.to_vec()));
        input.path = "notes.txt".into();
        Merge::new([input]).err().expect("a refusal").to_string()
    };
    let can = "pcap and pcapng can be read, also compressed with gzip, zstd, xz, bzip2 or lz4";
    // Nothing of the content is told.
    let told = format!("notes.txt: not a capture: {can}");
    assert_eq!(refused(b"Dear \"diary\",\n"), told);
    assert_eq!(refused(&[0x7f; 100]), told);
    assert_eq!(
        refused(&gzip(b"Dear")),
        format!("notes.txt: not a capture when decompressed by gzip: {can}")
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
