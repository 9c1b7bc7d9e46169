//! Waiting for descriptors at which there is something to do.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::channels::Channels;

/// The descriptors at which there is something to do.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// The server is to end.
    pub(crate) is_stopped: bool,
    /// A connection waits to be accepted.
    pub(crate) has_connection: bool,
    /// A copy of the controller's state is asked for.
    pub(crate) is_asked: bool,
    /// Channels by which something has come, or that have ended.
    pub(crate) channels: Vec<u32>,
}

/// Waits until there is something to do, a time at most. Channels that only take more again are not
/// told: what waits for them is sent at the end of each turn.
pub(crate) fn wait(
    stop: BorrowedFd<'_>,
    listener: Option<BorrowedFd<'_>>,
    questions: Option<BorrowedFd<'_>>,
    channels: &Channels,
    timeout: Option<Duration>,
) -> io::Result<Ready> {
    let mut numbers = Vec::new();
    let mut fds = vec![PollFd::from_borrowed_fd(stop, PollFlags::IN)];
    for (number, channel) in channels.iter() {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, channel.wants_write());
        fds.push(PollFd::new(channel, flags));
        numbers.push(number);
    }
    let rest = [listener, questions].into_iter().flatten();
    fds.extend(rest.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    match poll(&mut fds, timeout.map(timespec).as_ref()) {
        Ok(_) => {}
        // A signal: whoever takes it says by `stop` that the server is to end.
        Err(Errno::INTR) => return Ok(Ready::default()),
        Err(error) => return Err(error.into()),
    }
    let has_input = |fd: &PollFd<'_>| !(fd.revents() - PollFlags::OUT).is_empty();
    let (of_channels, rest) = fds[1..].split_at(numbers.len());
    let (of_listener, of_questions) = rest.split_at(usize::from(listener.is_some()));
    let with_input = numbers.iter().zip(of_channels);
    Ok(Ready {
        is_stopped: has_input(&fds[0]),
        has_connection: of_listener.iter().any(has_input),
        is_asked: of_questions.iter().any(has_input),
        channels: with_input
            .filter(|(_, fd)| has_input(fd))
            .map(|(number, _)| *number)
            .collect(),
    })
}

pub(crate) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
