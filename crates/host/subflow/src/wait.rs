//! Waits for a descriptor to become readable, with a deadline and an interrupt.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mptcplab_linux::wait::poll;
use nix::poll::{PollFd, PollFlags};

use crate::Error;

/// Tells whether to stop waiting ([`Error::Interrupted`]). It is called several times a second, and
/// after each signal to the waiting thread.
pub type Interrupt = Arc<dyn Fn() -> bool + Send + Sync>;

/// Interval between two calls of the interrupt: a signal can come just before a wait.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Waits until a descriptor is readable; false where it is not within this time (`None`: no limit).
pub(crate) fn wait(
    fd: BorrowedFd<'_>,
    patience: Option<Duration>,
    interrupt: Option<&Interrupt>,
) -> Result<bool, Error> {
    let deadline = patience.map(after);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let slice = match interrupt {
            None => left,
            Some(_) => Some(left.map_or(ASK_EVERY, |left| left.min(ASK_EVERY))),
        };
        let ready = poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], slice);
        if ready.map_err(|error| Error::kernel("poll", &error))? > 0 {
            return Ok(true);
        }
        if interrupt.is_some_and(|interrupt| interrupt()) {
            return Err(Error::Interrupted);
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Ok(false);
        }
    }
}

/// The time that is so far ahead, or a far one where it has no representation.
pub(crate) fn after(patience: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(100 * 365 * 86_400);
    Instant::now() + patience.min(FAR)
}
