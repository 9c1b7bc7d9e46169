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

/// A descriptor and its kind.
pub(super) type End<'a> = (BorrowedFd<'a>, Kind);

/// The calls by which bytes are copied.
pub(super) enum CopyMethod {
    /// A pipe at one end: the kernel moves pages.
    Splice,
    /// From a file to a socket within the kernel.
    SendFile,
    /// From a socket to a file by way of a pipe of our own.
    Through { reader: OwnedFd, writer: OwnedFd },
    /// Read and write.
    Buffer(Box<[u8]>),
}

impl CopyMethod {
    /// The cheapest method between two kinds.
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

    /// The method that always works.
    fn buffer() -> Self {
        Self::Buffer(vec![0; STEP_BYTES].into_boxed_slice())
    }

    /// Becomes the method that always works, which takes over the `held` bytes.
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

    /// Copies in one call from source to sink; the other methods hold bytes in between.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self, Self::Splice | Self::SendFile)
    }

    /// Tells whether `error` calls for [`CopyMethod::fall_back`]: for files of /proc, say, which the
    /// kernel can only read and write.
    pub(super) fn is_impossible(&self, error: Errno) -> bool {
        !matches!(self, Self::Buffer(_)) && matches!(error, Errno::EINVAL | Errno::ENOSYS)
    }

    /// Copies from source to sink; for methods that are direct.
    pub(super) fn transfer(&self, from: End<'_>, to: End<'_>, most: u64) -> nix::Result<usize> {
        let most = step(most);
        match self {
            Self::SendFile => sendfile(to.0, from.0, None, most),
            _ => splice(from.0, None, to.0, None, most, flags()),
        }
    }

    /// Reads; for methods that hold bytes.
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

    /// Writes held bytes; for methods that hold bytes.
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

/// Tells whether a write of more than a ready sink takes would block.
pub(super) fn may_block(kind: Kind) -> bool {
    matches!(kind, Kind::Pipe | Kind::Terminal)
}

fn step(most: u64) -> usize {
    most.min(STEP_BYTES as u64) as usize
}

fn flags() -> SpliceFFlags {
    SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE
}
