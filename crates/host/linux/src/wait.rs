//! Waits for descriptors.

use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;

/// Longer than any wait, and within the range of every `timespec`.
const LONGEST: Duration = Duration::from_secs(i32::MAX as u64);

/// Waits once until a descriptor is ready, at most so long; gives the number of those that are, 0
/// also after a signal.
///
/// # Errors
/// Those of ppoll(2).
pub fn poll(descriptors: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|timeout| TimeSpec::from_duration(timeout.min(LONGEST)));
    match ppoll(descriptors, timeout, None) {
        Ok(ready) => Ok(ready.unsigned_abs() as usize),
        Err(Errno::EINTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
