//! Files that end before their end: all frames before the damage are given, and the damage told.

mod common;

use std::io::Write;
use std::sync::LazyLock;

use common::read::frames;
use common::{Capture, Format, link};
use mptcplab_trace::input::{Damage, Input, Merge};
use proptest::prelude::*;

/// A capture of three frames, and where each record of it begins; behind these, its end.
fn three(format: Format) -> (Vec<u8>, Vec<usize>) {
    let mut capture = Capture::new(format, link::RAW);
    let mut places = vec![capture.bytes.len()];
    for number in 0..3 {
        capture.frame(number * 1000, b"twelve bytes");
        places.push(capture.bytes.len());
    }
    (capture.bytes, places)
}

fn damage(offset: usize, message: &str) -> Option<Damage> {
    Some(Damage {
        offset: offset as u64,
        decompressed: false,
        message: message.into(),
    })
}

#[test]
fn a_file_that_is_cut_anywhere_gives_the_frames_before() {
    for format in Format::all() {
        let (bytes, places) = three(format);
        for length in 4..bytes.len() {
            let (read, state) = frames(bytes[..length].to_vec());
            let whole = places.iter().filter(|&&place| place <= length).count();
            assert_eq!(
                read.len(),
                whole.saturating_sub(1),
                "{format:?} of {length} bytes"
            );
            let begins_record = places.contains(&length);
            let begins_block = format.pcapng && length == 28;
            assert_eq!(state.damage.is_none(), begins_record || begins_block);
            if let (Some(damage), 1..) = (&state.damage, whole) {
                assert_eq!(damage.offset, places[whole - 1] as u64);
            }
        }
    }
}

#[test]
fn a_packet_that_was_being_written_is_told() {
    let (bytes, places) = three(Format::PCAP);
    let (_, state) = frames(bytes[..places[2] + 20].to_vec());
    let message = "the file ends within a frame: 20 of 28 bytes are there";
    assert_eq!(state.damage, damage(places[2], message));
    assert_eq!(
        state.damage.unwrap().to_string(),
        format!("at byte 80: {message}")
    );
    let (bytes, places) = three(Format::PCAPNG);
    let (_, state) = frames(bytes[..places[2] + 20].to_vec());
    let message = "the file ends within a packet block: 20 of 44 bytes are there";
    assert_eq!(state.damage, damage(places[2], message));
}

#[test]
fn wrong_lengths_are_told() {
    // Of the second frame: where, what instead, and what is to be said.
    let cases = [
        (
            Format::PCAP,
            8,
            0x7fff_ffff,
            "a frame of 2147483647 bytes: too many to be one",
        ),
        (
            Format::PCAP,
            4,
            1_000_000,
            "a frame with 1000000 microseconds beside its seconds: too many",
        ),
        (
            Format {
                nanos: true,
                ..Format::PCAP
            },
            4,
            1_000_000_000,
            "a frame with 1000000000 nanoseconds beside its seconds: too many",
        ),
        (
            Format::PCAPNG,
            4,
            45,
            "a block of 45 bytes: no length of a block",
        ),
        (
            Format::PCAPNG,
            4,
            8,
            "a block of 8 bytes: no length of a block",
        ),
        (
            Format::PCAPNG,
            4,
            0x7fff_fff0,
            "a block of 2147483632 bytes: too many for a packet block",
        ),
        (
            Format::PCAPNG,
            40,
            48,
            "a block of 44 bytes at its front and 48 at its end",
        ),
        (
            Format::PCAPNG,
            20,
            13,
            "a frame of 13 bytes in a block of 44",
        ),
        (
            Format::PCAPNG,
            8,
            1,
            "a frame of interface 1, which its section does not describe",
        ),
    ];
    for (format, at, value, message) in cases {
        let (mut bytes, places) = three(format);
        let at = places[1] + at;
        bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
        let (read, state) = frames(bytes);
        assert_eq!(read.len(), 1);
        assert_eq!(state.damage, damage(places[1], message));
    }
}

#[test]
fn a_block_that_is_passed_over_is_damaged_where_it_begins() {
    let (mut bytes, places) = three(Format::PCAPNG);
    bytes[places[1]] = 99;
    bytes[places[1] + 40] = 99;
    let (read, state) = frames(bytes.clone());
    assert_eq!(read.len(), 1);
    let message = "a block of 44 bytes at its front and 99 at its end";
    assert_eq!(state.damage, damage(places[1], message));
    let (_, state) = frames(bytes[..places[1] + 30].to_vec());
    let message = "the file ends within a block: 30 of 44 bytes are there";
    assert_eq!(state.damage, damage(places[1], message));
}

#[test]
fn headers_that_say_what_cannot_be_are_told() {
    let set = |format, at: usize, value: u8| {
        let (mut bytes, _) = three(format);
        bytes[at] = value;
        frames(bytes).1.damage
    };
    assert_eq!(
        set(Format::PCAP, 4, 7),
        damage(0, "pcap of version 7.4, not 2.4")
    );
    assert_eq!(
        set(Format::PCAPNG, 12, 2),
        damage(0, "pcapng of version 2.0, not 1.0")
    );
    let message = "the header of a section without a byte-order mark";
    assert_eq!(set(Format::PCAPNG, 8, 0), damage(0, message));
    let message = "the description of an interface with an option beyond its end";
    assert_eq!(set(Format::PCAPNG, 46, 200), damage(28, message));
}

fn compressed(bytes: &[u8]) -> [(&'static str, Vec<u8>); 5] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    xz.write_all(bytes).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(bytes).unwrap();
    let blocks = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut lz4 = lz4_flex::frame::FrameEncoder::with_frame_info(blocks, Vec::new());
    lz4.write_all(bytes).unwrap();
    [
        ("gzip", gzip.finish().unwrap()),
        ("zstd", zstd::encode_all(bytes, 1).unwrap()),
        ("xz", xz.finish().unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("lz4", lz4.finish().unwrap()),
    ]
}

#[test]
fn a_file_of_lz4_that_ends_between_two_blocks_is_cut() {
    let mut capture = Capture::new(Format::PCAP, link::RAW);
    for number in 0..8000 {
        capture.frame(number * 1000, b"eight byt");
    }
    let [.., (_, file)] = compressed(&capture.bytes);
    // The header of the frame has 7 bytes, and each block its length before it.
    let first = u32::from_le_bytes(file[7..11].try_into().unwrap()) & 0x7fff_ffff;
    let cut = 7 + 4 + first as usize;
    let (read, state) = frames(file[..cut].to_vec());
    assert!(!read.is_empty());
    let message = state.damage.unwrap().message;
    assert!(
        message.ends_with("cannot be decompressed: lz4: the end of the frame is missing"),
        "{message}"
    );
}

#[test]
fn a_compressed_file_that_is_cut_gives_what_can_be_decompressed() {
    let mut capture = Capture::new(Format::PCAP, link::RAW);
    for number in 0..20_000_u64 {
        capture.frame(
            number * 1000,
            &number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes(),
        );
    }
    for (name, file) in compressed(&capture.bytes) {
        // The last bytes are a checksum, or the end of the last block.
        for cut in [1, file.len() / 2] {
            let (read, state) = frames(file[..file.len() - cut].to_vec());
            let damage = state.damage.unwrap();
            assert!(damage.decompressed);
            // Each record has 24 bytes, and so has the header.
            assert_eq!(damage.offset, 24 + 24 * read.len() as u64);
            assert!(
                damage
                    .message
                    .contains(&format!(" cannot be decompressed: {name}: "))
            );
            let place = format!("at byte {} of what was compressed: ", damage.offset);
            assert!(damage.to_string().starts_with(&place));
        }
    }
}

/// A capture of 300 frames, compressed in each way.
static COMPRESSED: LazyLock<[(&str, Vec<u8>); 5]> = LazyLock::new(|| {
    let mut capture = Capture::new(Format::PCAP, link::RAW);
    for number in 0..300 {
        capture.frame(number * 1000, &number.to_le_bytes());
    }
    compressed(&capture.bytes)
});

proptest! {
    #[test]
    fn any_change_of_a_file_leaves_the_frames_before_it_as_they_were(
        pcapng: bool,
        at in 24_usize..200,
        value: u8,
    ) {
        let format = if pcapng { Format::PCAPNG } else { Format::PCAP };
        let (bytes, places) = three(format);
        let (before, _) = frames(bytes.clone());
        let mut changed = bytes.clone();
        let at = at % bytes.len();
        prop_assume!(at >= places[0]);
        changed[at] = value;
        let (after, _) = frames(changed);
        let untouched = places.iter().filter(|&&place| place <= at).count() - 1;
        prop_assert!(after.len() >= untouched);
        prop_assert_eq!(&after[..untouched], &before[..untouched]);
    }

    #[test]
    fn a_compressed_file_of_any_changes_is_read_or_refused(
        which in 0..5_usize,
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..6),
        cut in any::<usize>(),
        cuts: bool,
    ) {
        let (_, mut file) = COMPRESSED[which].clone();
        for (at, value) in changes {
            let bytes = file.len();
            file[at % bytes] = value;
        }
        if cuts {
            file.truncate(cut % file.len());
        }
        let opened = Merge::new([Input::from(std::io::Cursor::new(file))]);
        if let Ok(mut merge) = opened {
            let mut read = 0_u64;
            while merge.next().is_some() {
                read += 1;
            }
            prop_assert_eq!(merge.files()[0].frames, read);
        }
    }
}
