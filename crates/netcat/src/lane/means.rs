//! The calls by which bytes go from one descriptor to another.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, SpliceFFlags, splice};
use nix::sys::sendfile::sendfile;
use nix::sys::socket::{MsgFlags, recv, send};
use nix::unistd::{pipe2, read, write};

use crate::descriptor::{CAREFUL_BYTES, Kind, widen};

/// Moved at most in one call, bytes; the buffer's size as well.
const STEP_BYTES: usize = 1 << 20;

/// A descriptor, and what it leads to.
pub(super) type End<'a> = (BorrowedFd<'a>, Kind);

pub(super) enum Means {
    /// A pipe at one end: the kernel moves pages.
    Splice,
    /// From a file to a socket within the kernel.
    SendFile,
    /// From a socket to a file by way of a pipe of our own.
    Through { reader: OwnedFd, writer: OwnedFd },
    /// Read and write.
    Buffer(Box<[u8]>),
}

impl Means {
    /// The cheapest.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub(super) fn between(from: Kind, to: Kind) -> io::Result<Self> {
        Ok(match (from, to) {
            (Kind::Pipe, Kind::Socket) | (Kind::Socket, Kind::Pipe) => Self::Splice,
            (Kind::File | Kind::Appended, Kind::Socket) => Self::SendFile,
            (Kind::Socket, Kind::File) => {
                let (reader, writer) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
                widen(writer.as_fd());
                Self::Through { reader, writer }
            }
            _ => Self::buffer(),
        })
    }

    /// What always works.
    fn buffer() -> Self {
        Self::Buffer(vec![0; STEP_BYTES].into_boxed_slice())
    }

    /// Becomes what always works; it begins with the `held` bytes that were held.
    ///
    /// # Errors
    /// None that can be expected: these bytes are there.
    pub(super) fn fall_back(&mut self, held: usize) -> nix::Result<()> {
        let before = std::mem::replace(self, Self::buffer());
        if let (Self::Through { reader, .. }, Self::Buffer(bytes)) = (before, self) {
            let mut moved = 0;
            while moved < held {
                moved += read(&reader, &mut bytes[moved..held])?;
            }
        }
        Ok(())
    }

    /// In one call from source to sink; the others hold bytes in between.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self, Self::Splice | Self::SendFile)
    }

    /// Whether `error` says that these descriptors want [`Means::fall_back`]: files of /proc, say,
    /// which the kernel can only read and write.
    pub(super) fn is_impossible(&self, error: Errno) -> bool {
        !matches!(self, Self::Buffer(_)) && matches!(error, Errno::EINVAL | Errno::ENOSYS)
    }

    /// From source to sink; for those that are direct.
    pub(super) fn transfer(&self, from: End<'_>, to: End<'_>, most: u64) -> nix::Result<usize> {
        let most = step(most);
        match self {
            Self::SendFile => sendfile(to.0, from.0, None, most),
            _ => splice(from.0, None, to.0, None, most, flags()),
        }
    }

    /// Reads; for those that hold.
    pub(super) fn fill(&mut self, (from, kind): End<'_>, most: u64) -> nix::Result<usize> {
        let most = step(most);
        match self {
            Self::Through { writer, .. } => splice(from, None, writer, None, most, flags()),
            Self::Buffer(bytes) if kind == Kind::Socket => {
                recv(from.as_raw_fd(), &mut bytes[..most], MsgFlags::MSG_DONTWAIT)
            }
            Self::Buffer(bytes) => read(from, &mut bytes[..most]),
            Self::Splice | Self::SendFile => unreachable!("these hold nothing"),
        }
    }

    /// Writes of what is held; for those that hold.
    pub(super) fn flush(&self, (to, kind): End<'_>, held: Range<usize>) -> nix::Result<usize> {
        match self {
            Self::Through { reader, .. } => splice(reader, None, to, None, held.len(), flags()),
            Self::Buffer(bytes) if kind == Kind::Socket => {
                let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
                send(to.as_raw_fd(), &bytes[held], flags)
            }
            Self::Buffer(bytes) if may_block(kind) => {
                let most = held.len().min(CAREFUL_BYTES);
                write(to, &bytes[held][..most])
            }
            Self::Buffer(bytes) => write(to, &bytes[held]),
            Self::Splice | Self::SendFile => unreachable!("these hold nothing"),
        }
    }
}

/// Whether a write that is larger than what a ready sink takes would wait.
pub(super) fn may_block(kind: Kind) -> bool {
    matches!(kind, Kind::Pipe | Kind::Terminal)
}

fn step(most: u64) -> usize {
    most.min(STEP_BYTES as u64) as usize
}

fn flags() -> SpliceFFlags {
    SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE
}
