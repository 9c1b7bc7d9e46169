//! A request to end, which wakes threads that wait for a socket.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use mptcplab_linux::wait::poll;
use nix::poll::{PollFd, PollFlags};

use crate::run_clock::RunClock;

/// A request to end, with its reason. Cheap to clone; all clones are the same request.
#[derive(Clone)]
pub struct Stop(Arc<Inner>);

struct Inner {
    /// Hangs up, for every waiting thread at once, when the writer is dropped.
    reader: PipeReader,
    writer: Mutex<Option<PipeWriter>>,
    reason: OnceLock<&'static str>,
}

impl Stop {
    /// Creates a request that has not been made yet.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let writer = Mutex::new(Some(writer));
        Ok(Self(Arc::new(Inner {
            reader,
            writer,
            reason: OnceLock::new(),
        })))
    }

    /// Makes the request; of several, the first one's reason counts.
    pub fn request(&self, reason: &'static str) {
        // The error is the value itself, where there was one before.
        let _ = self.0.reason.set(reason);
        self.0
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// The reason, once it was requested.
    pub fn reason(&self) -> Option<&'static str> {
        self.0.reason.get().copied()
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.reader.as_fd()
    }
}

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The file descriptor is ready.
    Ready,
    /// The time has come.
    Deadline,
    /// A stop was requested, for this reason.
    Stopped(&'static str),
}

/// Waits for `events` of `fd`, a deadline or a stop, whichever is first.
///
/// # Errors
/// When `poll` fails.
pub(crate) fn wait(
    fd: Option<(BorrowedFd<'_>, PollFlags)>,
    stops: &[&Stop],
    deadline: Option<Instant>,
) -> io::Result<Wake> {
    let mut fds: Vec<_> = stops
        .iter()
        .map(|stop| PollFd::new(stop.as_fd(), PollFlags::empty()))
        .collect();
    fds.extend(fd.map(|(fd, events)| PollFd::new(fd, events)));
    loop {
        let left = deadline.map(|time| time.saturating_duration_since(Instant::now()));
        let ready = poll(&mut fds, left)?;
        if let Some(reason) = stops.iter().find_map(|stop| stop.reason()) {
            return Ok(Wake::Stopped(reason));
        }
        if ready > 0 {
            return Ok(Wake::Ready);
        }
        if deadline.is_some_and(|time| time <= Instant::now()) {
            return Ok(Wake::Deadline);
        }
    }
}

/// The same on the clock of a run. While it stands nothing is ready, and no time comes.
///
/// # Errors
/// When `poll` fails.
pub(crate) fn wait_on(
    clock: &RunClock,
    fd: Option<(BorrowedFd<'_>, PollFlags)>,
    stops: &[&Stop],
    deadline: Option<Instant>,
) -> io::Result<Wake> {
    loop {
        let left = deadline.map(|time| time.saturating_duration_since(clock.instant()));
        let wake = wait(fd, stops, left.map(|left| Instant::now() + left))?;
        let is_early = || deadline.is_some_and(|time| clock.instant() < time);
        match wake {
            Wake::Stopped(_) => return Ok(wake),
            _ if clock.stands() => clock.rest(),
            Wake::Deadline if is_early() => {}
            _ => return Ok(wake),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn nothing_is_ready_and_no_time_comes_while_the_clock_stands() {
        let (clock, stop) = (&RunClock::default(), &Stop::new().unwrap());
        let (reader, writer) = io::pipe().unwrap();
        drop(writer);
        clock.stop();
        std::thread::scope(|scope| {
            let due = Some(clock.instant() + Duration::from_millis(1));
            let hung_up = Some((reader.as_fd(), PollFlags::POLLIN));
            let late = scope.spawn(move || wait_on(clock, None, &[stop], due).unwrap());
            let ready = scope.spawn(move || wait_on(clock, hung_up, &[stop], None).unwrap());
            std::thread::sleep(Duration::from_millis(20));
            assert!(!late.is_finished() && !ready.is_finished());
            clock.go_on();
            assert_eq!(late.join().unwrap(), Wake::Deadline);
            assert_eq!(ready.join().unwrap(), Wake::Ready);
            clock.stop();
            let stopped = scope.spawn(move || wait_on(clock, None, &[stop], None).unwrap());
            stop.request("enough");
            assert_eq!(stopped.join().unwrap(), Wake::Stopped("enough"));
        });
    }

    #[test]
    fn a_stop_wakes_every_clone_with_the_first_reason() {
        let stop = Stop::new().unwrap();
        let clone = stop.clone();
        let waiting = std::thread::spawn(move || wait(None, &[&clone], None).unwrap());
        stop.request("first");
        stop.request("second");
        assert_eq!(waiting.join().unwrap(), Wake::Stopped("first"));
        assert_eq!(wait(None, &[&stop], None).unwrap(), Wake::Stopped("first"));
    }

    #[test]
    fn a_deadline_in_the_past_ends_a_wait() {
        let stop = Stop::new().unwrap();
        let (reader, _writer) = io::pipe().unwrap();
        let fd = Some((reader.as_fd(), PollFlags::POLLIN));
        assert_eq!(
            wait(fd, &[&stop], Some(Instant::now())).unwrap(),
            Wake::Deadline
        );
    }
}
