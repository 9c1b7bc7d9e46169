//! Files that are opened, and why one is not.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::Compression;

const A_PIPE: &str = "it is a pipe: name it `-`, and send it to standard input";

/// Something to be read: a file, or whatever else gives bytes.
pub struct Input {
    /// Its name.
    pub path: PathBuf,
    /// Bytes that it has, where that is known.
    pub bytes_total: Option<u64>,
    /// Source of its bytes.
    pub read: Box<dyn Read + Send>,
}

impl Input {
    /// Opens the file at `path`, or standard input where that is `-`.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        if path.as_os_str() == "-" {
            return Ok(Self {
                path: path.into(),
                bytes_total: None,
                read: Box::new(io::stdin()),
            });
        }
        // To open a pipe waits for a process that writes to it, and no signal ends that.
        if fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            return Err(OpenError {
                path: path.into(),
                reason: Reason::Unreadable(A_PIPE.to_owned()),
            });
        }
        let file = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = file.map_err(|error| OpenError {
            path: path.into(),
            reason: Reason::of_failure(None, &error),
        })?;
        Ok(Self {
            path: path.into(),
            bytes_total: metadata.is_file().then_some(metadata.len()),
            read: Box::new(file),
        })
    }
}

impl<R: Read + Send + 'static> From<R> for Input {
    /// Makes an input of any reader, without a name.
    fn from(read: R) -> Self {
        Self {
            path: PathBuf::new(),
            bytes_total: None,
            read: Box::new(read),
        }
    }
}

/// A file that is not read.
#[derive(Debug)]
pub struct OpenError {
    /// Its path.
    pub path: PathBuf,
    /// Why not.
    pub reason: Reason,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.as_os_str() == "-" {
            f.write_str("standard input")?;
        } else {
            write!(f, "{}", self.path.display())?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for OpenError {}

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The system does not give it, or it cannot be decompressed from the beginning.
    Unreadable(String),
    /// It has no bytes.
    Empty,
    /// A capture of a format that is not read.
    OtherFormat(&'static str),
    /// No capture. The message does not show the file's content: its reader may not be allowed to
    /// read the file.
    NotACapture {
        /// How it is compressed.
        compression: Option<Compression>,
    },
}

impl Reason {
    pub(super) fn of_failure(compression: Option<Compression>, error: &io::Error) -> Self {
        Self::Unreadable(match (compression, error.kind()) {
            (Some(compression), _) => {
                format!("cannot be decompressed: {}: {error}", compression.name())
            }
            (None, io::ErrorKind::NotFound) => "there is no such file".into(),
            (None, io::ErrorKind::IsADirectory) => "is a directory, not a capture".into(),
            (None, _) => format!("cannot be read: {error}"),
        })
    }

    /// Returns the reason for a file that begins, and may end, with these bytes.
    pub(super) fn of_begin(compression: Option<Compression>, begin: &[u8]) -> Self {
        if begin.is_empty() {
            return Self::Empty;
        }
        let other = OTHER_FORMATS.iter().find(|(magic, _)| {
            let backwards = begin.iter().take(4).rev().eq(magic.iter());
            begin.starts_with(magic) || (magic[0] == 0xa1 && backwards)
        });
        match other {
            Some((_, name)) => Self::OtherFormat(name),
            None => Self::NotACapture { compression },
        }
    }
}

/// First bytes of files of other formats; those of pcap's kin in either byte order.
const OTHER_FORMATS: [(&[u8], &str); 11] = [
    (b"\xa1\xb2\xcd\x34", "pcap as modified by Alexey Kuznetzov"),
    (
        b"\xa1\xb2\x34\xcd",
        "pcap as modified by Francisco Mesquita",
    ),
    (b"\xa1\x2b\x3c\x4d", "pcap as modified by Navtel"),
    (b"\xa1\xe2\xcb\x12", "pcap as modified by AIX"),
    (b"\x1c\x00\x01\xac", "a capture of Ixia's hardware"),
    (b"\x1c\x00\x01\xab", "a capture of Ixia's software"),
    (b"snoop\0\0\0", "a capture of snoop"),
    (b"btsnoop\0", "a capture of Bluetooth (btsnoop)"),
    (b"RTSS", "a capture of Microsoft Network Monitor"),
    (b"GMBU", "a capture of Microsoft Network Monitor 2"),
    (b"XCP\0", "a capture of NetXRay"),
];

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(message) => f.write_str(message),
            Self::Empty => f.write_str("not a capture: it is empty"),
            Self::OtherFormat(name) => write!(
                f,
                "{name}, which is not read: `editcap -F pcapng` of Wireshark makes a pcapng file \
                 of it"
            ),
            Self::NotACapture { compression } => {
                f.write_str("not a capture")?;
                if let Some(compression) = compression {
                    write!(f, " when decompressed by {}", compression.name())?;
                }
                f.write_str(
                    ": pcap and pcapng can be read, also compressed with gzip, zstd, xz, bzip2 or \
                     lz4",
                )
            }
        }
    }
}
