//! Waits for descriptors, signals and deadlines at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use mptcplab_linux::wait;
use nix::poll::{PollFd, PollFlags};

use crate::failure::Failure;
use crate::signals::Signals;

/// Descriptors to poll.
#[derive(Default)]
pub(crate) struct Poll<'fd>(Vec<PollFd<'fd>>);

/// Result of polling.
pub(crate) struct Polled(Vec<PollFlags>);

impl<'fd> Poll<'fd> {
    /// Adds a descriptor, and gives its number.
    pub(crate) fn add(&mut self, descriptor: BorrowedFd<'fd>, events: PollFlags) -> usize {
        self.0.push(PollFd::new(descriptor, events));
        self.0.len() - 1
    }

    /// Adds a descriptor where it is wanted.
    pub(crate) fn add_if(
        &mut self,
        wanted: bool,
        descriptor: BorrowedFd<'fd>,
        events: PollFlags,
    ) -> Option<usize> {
        wanted.then(|| self.add(descriptor, events))
    }

    /// Waits until one of them is ready or the deadline has come.
    ///
    /// # Errors
    /// Those of ppoll(2).
    pub(crate) fn until(mut self, deadline: Option<Instant>) -> io::Result<Polled> {
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let ready = wait::poll(&mut self.0, left)?;
            if ready > 0 || left.is_some_and(|left| left.is_zero()) {
                break;
            }
        }
        // The library gives no flags at all for one that it has no name for (POLLRDHUP).
        let flags = |fd: &PollFd<'_>| fd.revents().unwrap_or(PollFlags::all());
        Ok(Polled(self.0.iter().map(flags).collect()))
    }
}

impl Polled {
    /// Flags of a descriptor; none where it was not added.
    pub(crate) fn flags(&self, number: impl Into<Option<usize>>) -> PollFlags {
        number.into().map_or(PollFlags::empty(), |at| self.0[at])
    }

    /// Tells whether a descriptor is ready.
    pub(crate) fn any(&self, number: impl Into<Option<usize>>) -> bool {
        !self.flags(number).is_empty()
    }

    /// Tells whether the deadline came first.
    pub(crate) fn none(&self) -> bool {
        self.0.iter().all(|flags| flags.is_empty())
    }
}

/// Waits until `descriptor` has one of `events`; false where the deadline came first.
///
/// # Errors
/// A signal that came meanwhile.
pub(crate) fn ready(
    descriptor: BorrowedFd<'_>,
    events: PollFlags,
    deadline: Option<Instant>,
    signals: &Signals,
) -> Result<bool, Failure> {
    let mut poll = Poll::default();
    let it = poll.add(descriptor, events);
    poll.add(signals.as_fd(), PollFlags::POLLIN);
    let polled = poll.until(deadline).map_err(Failure::of("wait"))?;
    match signals.take() {
        Some(signal) => Err(Failure::Signal(signal)),
        None => Ok(polled.any(it)),
    }
}

/// The end of a time that begins now.
pub(crate) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    limit.and_then(|limit| Instant::now().checked_add(limit))
}
