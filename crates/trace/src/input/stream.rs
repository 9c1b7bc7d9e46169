//! The bytes of a file, decompressed.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::Compression;

/// Bytes of the buffer before a decompressor.
const COMPRESSED_BUFFER_BYTES: usize = 128 * 1024;

/// Bytes that gzip is asked for at once: it drops as many where it then meets corrupt data.
const GZIP_BYTES: usize = 4096;

/// A stream of bytes that is decompressed where that is needed.
pub(super) enum Stream {
    Plain(Raw),
    Gzip(Box<MultiGzDecoder<BufReader<Raw>>>),
    Zstd(Box<zstd::Decoder<'static, BufReader<Raw>>>),
}

impl Stream {
    /// Finds out by the first bytes whether `input` is compressed.
    pub(super) fn new(mut input: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut begin = Vec::new();
        input.by_ref().take(4).read_to_end(&mut begin)?;
        let compression = compression(&begin);
        let raw = Raw {
            input: io::Cursor::new(begin).chain(input),
            bytes: 0,
        };
        let buffered = |raw| BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, raw);
        Ok(match compression {
            None => Self::Plain(raw),
            Some(Compression::Gzip) => Self::Gzip(Box::new(MultiGzDecoder::new(buffered(raw)))),
            Some(Compression::Zstd) => {
                Self::Zstd(Box::new(zstd::Decoder::with_buffer(buffered(raw))?))
            }
        })
    }

    pub(super) fn compression(&self) -> Option<Compression> {
        match self {
            Self::Plain(_) => None,
            Self::Gzip(_) => Some(Compression::Gzip),
            Self::Zstd(_) => Some(Compression::Zstd),
        }
    }

    /// Bytes that were read of the file.
    pub(super) fn bytes_read(&self) -> u64 {
        match self {
            Self::Plain(raw) => raw.bytes,
            Self::Gzip(decoder) => decoder.get_ref().get_ref().bytes,
            Self::Zstd(decoder) => decoder.get_ref().get_ref().bytes,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(raw) => raw.read(to),
            Self::Gzip(decoder) => {
                let bytes = to.len().min(GZIP_BYTES);
                decoder.read(&mut to[..bytes])
            }
            Self::Zstd(decoder) => decoder.read(to),
        }
    }
}

/// How a file that begins like this is compressed.
fn compression(begin: &[u8]) -> Option<Compression> {
    match *begin {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd] => Some(Compression::Zstd),
        // A skippable frame (RFC 8878, section 3.1.2), as some compressors write first.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Compression::Zstd),
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
