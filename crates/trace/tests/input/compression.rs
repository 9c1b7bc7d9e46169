//! Compressed captures, and the memory that decompression may take.

use std::io::Write;

use mptcplab_trace::input::Compression;

use crate::common::Format;
use crate::common::read::frames;
use crate::{counting, frames_or_refusal};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
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
        (xz(&bytes), Compression::Xz),
        ([xz(front), xz(back)].concat(), Compression::Xz),
        (bzip2(&bytes), Compression::Bzip2),
        ([bzip2(front), bzip2(back)].concat(), Compression::Bzip2),
        (lz4(&bytes), Compression::Lz4),
        ([lz4(front), lz4(back)].concat(), Compression::Lz4),
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
fn memory_for_decompressing_is_bounded() {
    let (bytes, _) = counting(Format::PCAP, 3);
    let refused = |file: Vec<u8>| frames_or_refusal(file).expect_err("too much memory");
    // A file that asks for a dictionary of 256 MiB is refused.
    let mut options = lzma_rust2::XzOptions::with_preset(1);
    options.lzma_options.dict_size = 256 << 20;
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(&bytes).unwrap();
    let message = refused(encoder.finish().unwrap());
    assert_eq!(
        message,
        ": cannot be decompressed: xz: needed memory too big for mem_limit_kb"
    );
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(&bytes).unwrap();
    let message = refused(encoder.finish().unwrap());
    assert!(
        message.starts_with(": cannot be decompressed: zstd: "),
        "{message}"
    );
}
