//! Waiting for something to read, with an end that others may call for.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::Error;

/// Says whether to stop waiting ([`Error::Interrupted`]). It is asked several times a second, and
/// after each signal that the waiting thread was given.
pub type Interrupt = Arc<dyn Fn() -> bool + Send + Sync>;

/// How long is waited without asking whether to go on: a signal can come just before a wait.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Waits until there is something to read; false after so long without (`None`: as long as it
/// takes).
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
        let timeout = slice.map_or(PollTimeout::NONE, |slice| {
            // Rounded up: waking early would only spin.
            let milliseconds = slice.as_micros().div_ceil(1000);
            PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], timeout) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(Error::kernel("poll", &error.into())),
        }
        if interrupt.is_some_and(|interrupt| interrupt()) {
            return Err(Error::Interrupted);
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Ok(false);
        }
    }
}

/// The time after so long a time; far away where that cannot be told.
pub(crate) fn after(patience: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(100 * 365 * 86_400);
    Instant::now() + patience.min(FAR)
}
