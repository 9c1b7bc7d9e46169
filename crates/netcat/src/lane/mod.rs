//! One direction of a connection: bytes from one descriptor to another, the cheapest way.
//!
//! Nothing here waits. What a descriptor is not ready for is left until [`Lane::woken`] says that
//! it is.

mod means;

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use nix::errno::Errno;

use crate::descriptor::{Kind, widen};
use means::{End, Means, may_block};

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

/// A direction.
pub(crate) struct Lane<'a> {
    from: End<'a>,
    to: End<'a>,
    /// The sink is the connection, otherwise the source is.
    outbound: bool,
    means: Means,
    /// Read and not yet written: bytes of the pipe of our own, or these of the buffer.
    held: Range<usize>,
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
    pub(crate) fn outbound(input: End<'a>, connection: BorrowedFd<'a>) -> io::Result<Self> {
        Self::new(input, (connection, Kind::Socket), true)
    }

    /// From the connection to standard output.
    ///
    /// # Errors
    /// As [`Lane::outbound`].
    pub(crate) fn inbound(connection: BorrowedFd<'a>, output: End<'a>) -> io::Result<Self> {
        Self::new((connection, Kind::Socket), output, false)
    }

    fn new(from: End<'a>, to: End<'a>, outbound: bool) -> io::Result<Self> {
        for (descriptor, kind) in [from, to] {
            if kind == Kind::Pipe {
                widen(descriptor);
            }
        }
        Ok(Self {
            from,
            to,
            outbound,
            means: Means::between(from.1, to.1)?,
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
        let sink_matters = self.means.is_direct() || !self.held.is_empty();
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

    /// One call; false where something is not ready.
    fn step(&mut self) -> Result<bool, Fault> {
        let (source, sink) = self.waits_for();
        if source || sink {
            return Ok(false);
        }
        if self.means.is_direct() {
            return self.step_direct();
        }
        if self.held.is_empty() {
            self.fill()
        } else {
            self.flush()
        }
    }

    fn step_direct(&mut self) -> Result<bool, Fault> {
        match self.means.transfer(self.from, self.to, self.left) {
            Ok(0) => self.ended = true,
            Ok(bytes) => {
                self.moved += bytes as u64;
                self.take(bytes);
            }
            Err(Errno::EAGAIN) => {
                // Which of the two it was is not told; what is ready shows itself at once.
                (self.source_ready, self.sink_ready) = (false, false);
                return Ok(false);
            }
            Err(Errno::EINTR) => {}
            Err(error) if self.means.is_impossible(error) => self.fall_back()?,
            Err(error) => return Err(self.fault(error)),
        }
        Ok(true)
    }

    /// Reads.
    fn fill(&mut self) -> Result<bool, Fault> {
        match self.means.fill(self.from, self.left) {
            Ok(0) => self.ended = true,
            Ok(bytes) => {
                self.held = 0..bytes;
                self.take(bytes);
                // Another read from what may block waits for its word.
                self.source_ready = matches!(self.from.1, Kind::Socket | Kind::File);
            }
            Err(Errno::EAGAIN) => {
                self.source_ready = false;
                return Ok(false);
            }
            Err(Errno::EINTR) => {}
            Err(error) if self.means.is_impossible(error) => self.fall_back()?,
            Err(error) => return Err(Fault::Source(error.into())),
        }
        Ok(true)
    }

    /// Writes what is held.
    fn flush(&mut self) -> Result<bool, Fault> {
        let done = self.means.flush(self.to, self.held.clone());
        // Another write to what may block waits for its word.
        self.sink_ready = !may_block(self.to.1);
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
            Err(error) if self.means.is_impossible(error) => self.fall_back().map(|()| true),
            Err(error) => Err(Fault::Sink(error.into())),
        }
    }

    fn fall_back(&mut self) -> Result<(), Fault> {
        let held = self.held.len();
        self.held = 0..held;
        let done = self.means.fall_back(held);
        done.map_err(|error| Fault::Sink(error.into()))
    }

    /// Counts what was read.
    fn take(&mut self, bytes: usize) {
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
