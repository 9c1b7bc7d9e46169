//! The bytes of a file, decompressed.

use std::io::{self, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::Compression;
use super::lz4::Lz4;

/// Bytes of the buffer before a decompressor.
const COMPRESSED_BUFFER_BYTES: usize = 128 * 1024;

/// Bytes that gzip and xz are asked for at once: they drop as many where they then meet corrupt
/// data.
const BYTES_AT_ONCE: usize = 4096;

/// KiB of memory for decompressing xz. What `xz -9` writes needs 65 MiB, a header may ask for 4
/// GiB; zstd's own limit is 128 MiB too.
const XZ_MEMORY_KIB: u32 = 129 * 1024;

/// A stream of bytes that is decompressed where that is needed.
pub(super) enum Stream {
    Plain(Raw),
    Gzip(Box<MultiGzDecoder<Buffered>>),
    Zstd(Box<zstd::Decoder<'static, Buffered>>),
    Xz(Box<XzReader<Buffered>>),
    Bzip2(Box<MultiBzDecoder<Buffered>>),
    Lz4(Box<Lz4<Buffered>>),
}

type Buffered = BufReader<Raw>;

impl Stream {
    /// Finds out by the first bytes whether `input` is compressed.
    pub(super) fn new(mut input: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut begin = Vec::new();
        input.by_ref().take(6).read_to_end(&mut begin)?;
        let compression = compression(&begin);
        let raw = Raw {
            input: io::Cursor::new(begin).chain(input),
            bytes: 0,
        };
        let Some(compression) = compression else {
            return Ok(Self::Plain(raw));
        };
        let raw = BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, raw);
        Ok(match compression {
            Compression::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(raw))),
            Compression::Zstd => Self::Zstd(Box::new(zstd::Decoder::with_buffer(raw)?)),
            Compression::Xz => {
                Self::Xz(Box::new(XzReader::new_mem_limit(raw, true, XZ_MEMORY_KIB)))
            }
            Compression::Bzip2 => Self::Bzip2(Box::new(MultiBzDecoder::new(raw))),
            Compression::Lz4 => Self::Lz4(Box::new(Lz4::new(raw))),
        })
    }

    pub(super) fn compression(&self) -> Option<Compression> {
        match self {
            Self::Plain(_) => None,
            Self::Gzip(_) => Some(Compression::Gzip),
            Self::Zstd(_) => Some(Compression::Zstd),
            Self::Xz(_) => Some(Compression::Xz),
            Self::Bzip2(_) => Some(Compression::Bzip2),
            Self::Lz4(_) => Some(Compression::Lz4),
        }
    }

    /// Bytes that were read of the file.
    pub(super) fn bytes_read(&self) -> u64 {
        let buffered = match self {
            Self::Plain(raw) => return raw.bytes,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zstd(decoder) => decoder.get_ref(),
            Self::Xz(decoder) => decoder.inner(),
            Self::Bzip2(decoder) => decoder.get_ref(),
            Self::Lz4(decoder) => decoder.input(),
        };
        buffered.get_ref().bytes
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(raw) => raw.read(to),
            Self::Gzip(decoder) => {
                let bytes = to.len().min(BYTES_AT_ONCE);
                decoder.read(&mut to[..bytes])
            }
            Self::Zstd(decoder) => decoder.read(to),
            Self::Xz(decoder) => {
                let bytes = to.len().min(BYTES_AT_ONCE);
                decoder.read(&mut to[..bytes])
            }
            Self::Bzip2(decoder) => decoder.read(to),
            Self::Lz4(decoder) => decoder.read(to),
        }
    }
}

/// Returns how a file that begins like this is compressed.
fn compression(begin: &[u8]) -> Option<Compression> {
    match *begin {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
        // A skippable frame (RFC 8878, section 3.1.2), as some compressors write first.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Compression::Xz),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Compression::Bzip2),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some(Compression::Lz4),
        _ => None,
    }
}

/// A file as it is, and how much of it was read.
pub(super) struct Raw {
    input: io::Chain<io::Cursor<Vec<u8>>, Box<dyn Read + Send>>,
    bytes: u64,
}

impl Read for Raw {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(to)?;
        self.bytes += bytes as u64;
        Ok(bytes)
    }
}
