//! One direction of a connection: copies from one descriptor to another, by the cheapest calls.
//!
//! Nothing here waits: a descriptor that is not ready is left alone until [`Relay::woken`].

mod copy_method;

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use nix::errno::Errno;

use crate::descriptor::{Kind, widen};
use copy_method::{CopyMethod, End, may_block};

/// Calls before the other direction has its turn.
const TURN_STEPS: usize = 16;

/// Result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// There may be more to do at once.
    Busy,
    /// One of the two is not ready.
    Waiting,
    /// The source has ended and everything is written.
    Ended,
}

/// An error, and the end that it is of.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The descriptor that is read.
    Source(io::Error),
    /// The descriptor that is written to.
    Sink(io::Error),
}

/// One direction of a connection.
pub(crate) struct Relay<'a> {
    from: End<'a>,
    to: End<'a>,
    /// The sink is the connection, otherwise the source is.
    outbound: bool,
    method: CopyMethod,
    /// Bytes read and not yet written: in the method's pipe, or this part of its buffer.
    held: Range<usize>,
    source_ready: bool,
    sink_ready: bool,
    /// Bytes that may still be read.
    left: u64,
    moved: u64,
    ended: bool,
}

impl<'a> Relay<'a> {
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
    /// As [`Relay::outbound`].
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
            method: CopyMethod::between(from.1, to.1)?,
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

    /// Tells whether this direction has ended.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Reads no more than `bytes` from now on, and ends then.
    pub(crate) fn finish_with(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// Ends at once.
    pub(crate) fn give_up(&mut self) {
        self.ended = true;
    }

    /// Tells whether it waits for the source, and whether for the sink.
    pub(crate) fn waits_for(&self) -> (bool, bool) {
        let source = !self.ended && self.held.is_empty() && !self.source_ready;
        let sink_matters = self.method.is_direct() || !self.held.is_empty();
        (source, !self.ended && sink_matters && !self.sink_ready)
    }

    /// Notes that the source, or the sink, is ready.
    pub(crate) fn woken(&mut self, source: bool, sink: bool) {
        self.source_ready |= source;
        self.sink_ready |= sink;
    }

    /// Moves what can be moved at once.
    ///
    /// # Errors
    /// The system's; no bytes that were read are lost by an error of the source.
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

    /// Makes one call; false where a descriptor is not ready.
    fn step(&mut self) -> Result<bool, Fault> {
        let (source, sink) = self.waits_for();
        if source || sink {
            return Ok(false);
        }
        if self.method.is_direct() {
            return self.step_direct();
        }
        if self.held.is_empty() {
            self.fill()
        } else {
            self.flush()
        }
    }

    fn step_direct(&mut self) -> Result<bool, Fault> {
        match self.method.transfer(self.from, self.to, self.left) {
            Ok(0) => self.ended = true,
            Ok(bytes) => {
                self.moved += bytes as u64;
                self.take(bytes);
            }
            Err(Errno::EAGAIN) => {
                // The kernel does not say which of the two; poll(2) tells at once.
                (self.source_ready, self.sink_ready) = (false, false);
                return Ok(false);
            }
            Err(Errno::EINTR) => {}
            Err(error) if self.method.is_impossible(error) => self.fall_back()?,
            Err(error) => return Err(self.fault(error)),
        }
        Ok(true)
    }

    /// Reads.
    fn fill(&mut self) -> Result<bool, Fault> {
        match self.method.fill(self.from, self.left) {
            Ok(0) => self.ended = true,
            Ok(bytes) => {
                self.held = 0..bytes;
                self.take(bytes);
                // Another read could block: poll(2) first.
                self.source_ready = matches!(self.from.1, Kind::Socket | Kind::File);
            }
            Err(Errno::EAGAIN) => {
                self.source_ready = false;
                return Ok(false);
            }
            Err(Errno::EINTR) => {}
            Err(error) if self.method.is_impossible(error) => self.fall_back()?,
            Err(error) => return Err(Fault::Source(error.into())),
        }
        Ok(true)
    }

    /// Writes what is held.
    fn flush(&mut self) -> Result<bool, Fault> {
        let done = self.method.flush(self.to, self.held.clone());
        // Another write could block: poll(2) first.
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
            Err(error) if self.method.is_impossible(error) => self.fall_back().map(|()| true),
            Err(error) => Err(Fault::Sink(error.into())),
        }
    }

    fn fall_back(&mut self) -> Result<(), Fault> {
        let held = self.held.len();
        self.held = 0..held;
        let done = self.method.fall_back(held);
        done.map_err(|error| Fault::Sink(error.into()))
    }

    /// Counts what was read.
    fn take(&mut self, bytes: usize) {
        if self.left != u64::MAX {
            self.left -= bytes as u64;
        }
    }

    /// Tells which end an error of a call between both is of.
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
