//! Waiting for descriptors, signals and deadlines at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::failure::Failure;
use crate::signals::Signals;

/// Waits until one of `fds` is ready or the deadline has come; tells which flags each has.
pub(crate) fn poll_until(
    fds: &mut [PollFd<'_>],
    deadline: Option<Instant>,
) -> io::Result<Vec<PollFlags>> {
    loop {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        match ppoll(fds, left.map(TimeSpec::from_duration), None) {
            Ok(_) => break,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // What the library has no name for (POLLRDHUP) it tells as nothing at all.
    let flags = |fd: &PollFd<'_>| fd.revents().unwrap_or(PollFlags::all());
    Ok(fds.iter().map(flags).collect())
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
    let mut fds = [
        PollFd::new(descriptor, events),
        PollFd::new(signals.as_fd(), PollFlags::POLLIN),
    ];
    let flags = poll_until(&mut fds, deadline).map_err(Failure::of("wait"))?;
    match signals.take() {
        Some(signal) => Err(Failure::Signal(signal)),
        None => Ok(!flags[0].is_empty()),
    }
}

/// The time at which something that begins now and may last `limit` has to be over.
pub(crate) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    limit.and_then(|limit| Instant::now().checked_add(limit))
}
