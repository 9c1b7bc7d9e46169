//! One direction of a connection: bytes from one descriptor to another, the cheapest way.
//!
//! Nothing here waits. What a descriptor is not ready for is left until [`Lane::woken`] says that
//! it is.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, SpliceFFlags, splice};
use nix::sys::sendfile::sendfile;
use nix::sys::socket::{MsgFlags, recv, send};
use nix::unistd::{pipe2, read, write};
use std::os::fd::AsRawFd;

use crate::descriptor::{Kind, widen};

/// Moved at most in one call, bytes; the buffer's size as well.
const STEP_BYTES: usize = 1 << 20;
/// Written at most to what may block: a pipe that is ready takes as much (`PIPE_BUF`).
const CAREFUL_BYTES: usize = 4096;
/// Steps before the other direction has its turn.
const TURN_STEPS: usize = 16;

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// There may be more to do at once.
    Busy,
    /// One of the two is not ready.
    Waiting,
    /// The source has ended and everything is written.
    Ended,
}

/// Whose fault an error is.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Of what is read.
    Source(io::Error),
    /// Of what is written to.
    Sink(io::Error),
}

enum Way {
    /// A pipe at one end: the kernel moves pages.
    Splice,
    /// From a file to a socket within the kernel.
    SendFile,
    /// From a socket to a file by way of a pipe of our own.
    Through { reader: OwnedFd, writer: OwnedFd },
    /// Read and write.
    Buffer(Box<[u8]>),
}

/// A direction.
pub(crate) struct Lane<'a> {
    from: (BorrowedFd<'a>, Kind),
    to: (BorrowedFd<'a>, Kind),
    /// The sink is the connection, otherwise the source is.
    outbound: bool,
    way: Way,
    /// Read and not yet written: bytes of the pipe of our own, or these of the buffer.
    held: std::ops::Range<usize>,
    source_ready: bool,
    sink_ready: bool,
    /// What may still be read, bytes.
    left: u64,
    moved: u64,
    ended: bool,
}

impl<'a> Lane<'a> {
    /// From standard input to the connection.
    ///
    /// # Errors
    /// When there is no memory or descriptor left.
    pub(crate) fn outbound(
        input: (BorrowedFd<'a>, Kind),
        connection: BorrowedFd<'a>,
    ) -> io::Result<Self> {
        Self::new(input, (connection, Kind::Socket), true)
    }

    /// From the connection to standard output.
    ///
    /// # Errors
    /// As [`Lane::outbound`].
    pub(crate) fn inbound(
        connection: BorrowedFd<'a>,
        output: (BorrowedFd<'a>, Kind),
    ) -> io::Result<Self> {
        Self::new((connection, Kind::Socket), output, false)
    }

    fn new(
        from: (BorrowedFd<'a>, Kind),
        to: (BorrowedFd<'a>, Kind),
        outbound: bool,
    ) -> io::Result<Self> {
        for (descriptor, kind) in [from, to] {
            if kind == Kind::Pipe {
                widen(descriptor);
            }
        }
        let way = match (from.1, to.1) {
            (Kind::Pipe, Kind::Socket) | (Kind::Socket, Kind::Pipe) => Way::Splice,
            (Kind::File | Kind::Appended, Kind::Socket) => Way::SendFile,
            (Kind::Socket, Kind::File) => {
                let (reader, writer) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
                widen(writer.as_fd());
                Way::Through { reader, writer }
            }
            _ => buffer(),
        };
        Ok(Self {
            from,
            to,
            outbound,
            way,
            held: 0..0,
            source_ready: false,
            sink_ready: false,
            left: u64::MAX,
            moved: 0,
            ended: false,
        })
    }

    /// Bytes written so far.
    pub(crate) fn moved(&self) -> u64 {
        self.moved
    }

    /// Bytes read and not yet written.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing more will come this way.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Reads no more than `bytes` from now on, and ends then.
    pub(crate) fn finish_with(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// Ends here, whatever is left.
    pub(crate) fn give_up(&mut self) {
        self.ended = true;
    }

    /// Whether it waits for the source, and whether for the sink.
    pub(crate) fn waits_for(&self) -> (bool, bool) {
        let source = !self.ended && self.held.is_empty() && !self.source_ready;
        let sink_matters = self.direct() || !self.held.is_empty();
        (source, !self.ended && sink_matters && !self.sink_ready)
    }

    /// The source, or the sink, is ready now.
    pub(crate) fn woken(&mut self, source: bool, sink: bool) {
        self.source_ready |= source;
        self.sink_ready |= sink;
    }

    /// Moves what can be moved at once.
    ///
    /// # Errors
    /// What the system says; nothing of what was read is lost by an error of the source.
    pub(crate) fn turn(&mut self) -> Result<Turn, Fault> {
        for _ in 0..TURN_STEPS {
            let goes_on = !self.ended && self.step()?;
            self.ended |= self.held.is_empty() && self.left == 0;
            if self.ended {
                return Ok(Turn::Ended);
            }
            if !goes_on {
                return Ok(Turn::Waiting);
            }
        }
        Ok(Turn::Busy)
    }

    /// In one call from source to sink.
    fn direct(&self) -> bool {
        matches!(self.way, Way::Splice | Way::SendFile)
    }

    /// One call; false where something is not ready.
    fn step(&mut self) -> Result<bool, Fault> {
        let (source, sink) = self.waits_for();
        if source || sink {
            return Ok(false);
        }
        if self.direct() {
            return self.step_direct();
        }
        if self.held.is_empty() {
            self.fill()
        } else {
            self.flush()
        }
    }

    fn step_direct(&mut self) -> Result<bool, Fault> {
        let most = self.left.min(STEP_BYTES as u64) as usize;
        let done = match self.way {
            Way::Splice => splice(self.from.0, None, self.to.0, None, most, flags()),
            _ => sendfile(self.to.0, self.from.0, None, most),
        };
        match done {
            Ok(0) => self.ended = true,
            Ok(bytes) => self.count(bytes),
            Err(Errno::EAGAIN) => {
                // Which of the two it was is not told; what is ready shows itself at once.
                (self.source_ready, self.sink_ready) = (false, false);
                return Ok(false);
            }
            Err(Errno::EINTR) => {}
            // Files of /proc, say: the kernel can only read them.
            Err(Errno::EINVAL | Errno::ENOSYS) => self.way = buffer(),
            Err(error) => return Err(self.fault(error)),
        }
        Ok(true)
    }

    /// Reads.
    fn fill(&mut self) -> Result<bool, Fault> {
        let most = self.left.min(STEP_BYTES as u64) as usize;
        let (from, kind) = self.from;
        let done = match &mut self.way {
            Way::Through { writer, .. } => splice(from, None, writer, None, most, flags()),
            Way::Buffer(bytes) if kind == Kind::Socket => {
                recv(from.as_raw_fd(), &mut bytes[..most], MsgFlags::MSG_DONTWAIT)
            }
            Way::Buffer(bytes) => read(from, &mut bytes[..most]),
            Way::Splice | Way::SendFile => unreachable!("these hold nothing"),
        };
        match done {
            Ok(0) => self.ended = true,
            Ok(bytes) => {
                self.held = 0..bytes;
                self.left -= bytes as u64;
                // Another read from what may block waits for its word.
                self.source_ready = matches!(kind, Kind::Socket | Kind::File);
            }
            Err(Errno::EAGAIN) => {
                self.source_ready = false;
                return Ok(false);
            }
            Err(Errno::EINTR) => {}
            Err(Errno::EINVAL | Errno::ENOSYS) if matches!(self.way, Way::Through { .. }) => {
                self.way = buffer();
            }
            Err(error) => return Err(Fault::Source(error.into())),
        }
        Ok(true)
    }

    /// Writes what is held.
    fn flush(&mut self) -> Result<bool, Fault> {
        let (to, kind) = self.to;
        let done = match &self.way {
            Way::Through { reader, .. } => splice(reader, None, to, None, self.held.len(), flags()),
            Way::Buffer(bytes) => {
                let bytes = &bytes[self.held.clone()];
                match kind {
                    Kind::Socket => {
                        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
                        send(to.as_raw_fd(), bytes, flags)
                    }
                    Kind::Pipe | Kind::Terminal => {
                        self.sink_ready = false;
                        write(to, &bytes[..bytes.len().min(CAREFUL_BYTES)])
                    }
                    _ => write(to, bytes),
                }
            }
            Way::Splice | Way::SendFile => unreachable!("these hold nothing"),
        };
        match done {
            Ok(bytes) => {
                self.held.start += bytes;
                self.moved += bytes as u64;
                Ok(true)
            }
            Err(Errno::EAGAIN) => {
                self.sink_ready = false;
                Ok(false)
            }
            Err(Errno::EINTR) => Ok(true),
            Err(error) => Err(Fault::Sink(error.into())),
        }
    }

    fn count(&mut self, bytes: usize) {
        self.moved += bytes as u64;
        if self.left != u64::MAX {
            self.left -= bytes as u64;
        }
    }

    /// Whose fault an error of a call between both is.
    fn fault(&self, error: Errno) -> Fault {
        let of_sink = if self.outbound {
            !matches!(error, Errno::EIO | Errno::EISDIR | Errno::EBADF)
        } else {
            matches!(error, Errno::EPIPE | Errno::EBADF)
        };
        if of_sink {
            Fault::Sink(error.into())
        } else {
            Fault::Source(error.into())
        }
    }
}

fn buffer() -> Way {
    Way::Buffer(vec![0; STEP_BYTES].into_boxed_slice())
}

fn flags() -> SpliceFFlags {
    SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE
}
