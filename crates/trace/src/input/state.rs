//! State of the files that are read.

use std::path::PathBuf;

use super::{Damage, LinkType};
use crate::Nanos;

/// Format of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The format of libpcap's `savefile`.
    Pcap,
    /// PCAP Next Generation.
    Pcapng,
}

impl Format {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::Pcapng => "pcapng",
        }
    }
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip (RFC 1952), of any number of members.
    Gzip,
    /// Zstandard (RFC 8878), of any number of frames.
    Zstd,
    /// xz, of any number of streams.
    Xz,
    /// bzip2, of any number of streams.
    Bzip2,
    /// LZ4, of any number of frames.
    Lz4,
}

impl Compression {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "lz4",
        }
    }
}

/// State of a file so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Its path; `-` is standard input.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// Bytes of it that were read, compressed as they are.
    pub bytes_read: u64,
    /// Bytes that it has, where that is known.
    pub bytes_total: Option<u64>,
    /// Frames up to the last one that was given.
    pub frames: u64,
    /// Time of its earliest frame.
    pub first: Option<Nanos>,
    /// Time of its latest frame.
    pub last: Option<Nanos>,
    /// Damage that ended it before its end.
    pub damage: Option<Damage>,
}

/// An interface that was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Place of its file in [`Merge::files`](super::Merge::files).
    pub file: usize,
    /// Its name, where the capture has it.
    pub name: Option<String>,
    /// Link type of its frames.
    pub link_type: LinkType,
    /// Options of its description in pcapng that a file which is written may have too: comments,
    /// name, description, addresses, speed, filter, system. Little-endian, each padded.
    pub options: Vec<u8>,
}
