//! Moments at a fixed distance, until Ctrl-C.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::bail;
use mptcplab_linux::wait::poll;
use mptcplab_path_manager::eventfd::EventFd;
use nix::poll::{PollFd, PollFlags};

use crate::signals::stop_event;

/// Longest distance between two moments.
const LONGEST_SECONDS: f64 = 86_400.0;
/// Shortest one; reading all tables of a busy host takes about this long.
const SHORTEST_SECONDS: f64 = 0.01;

/// Exit status after a second signal: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// A grid of moments, the first of them now.
pub(crate) struct Ticks {
    interval: Duration,
    next: Instant,
    left: Option<u64>,
    stop: Arc<EventFd>,
}

impl Ticks {
    /// Gives `count` moments, or moments without end. From now on SIGINT and SIGTERM end the
    /// moments, not the process.
    ///
    /// # Errors
    /// Those of [`stop_event`].
    pub(crate) fn start(interval: Duration, count: Option<u64>) -> io::Result<Self> {
        let stop = stop_event(|| std::process::exit(INTERRUPTED))?;
        let next = Instant::now();
        Ok(Self {
            interval,
            next,
            left: count,
            stop,
        })
    }

    /// Waits for the next moment; false at the end, or after a signal. Moments that have passed
    /// already are left out, so that the grid stays.
    ///
    /// # Errors
    /// Those of ppoll(2).
    pub(crate) fn wait(&mut self) -> io::Result<bool> {
        match &mut self.left {
            Some(0) => return Ok(false),
            Some(left) => *left -= 1,
            None => {}
        }
        loop {
            let wait = self.next.saturating_duration_since(Instant::now());
            let mut stop = [PollFd::new(self.stop.as_fd(), PollFlags::POLLIN)];
            if poll(&mut stop, Some(wait))? > 0 {
                return Ok(false);
            }
            // A signal may end the wait before its time.
            if self.next <= Instant::now() {
                break;
            }
        }
        while self.next <= Instant::now() {
            self.next += self.interval;
        }
        Ok(true)
    }
}

/// Reads an option's seconds: `0.5`.
///
/// # Errors
/// A text that is no number, or out of bounds.
pub(crate) fn parse_seconds(text: &str) -> anyhow::Result<Duration> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    if !(SHORTEST_SECONDS..=LONGEST_SECONDS).contains(&seconds) {
        bail!("seconds from {SHORTEST_SECONDS} to {LONGEST_SECONDS}, such as 0.5");
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Seconds since 1970 of the system's clock, to the microsecond.
pub(crate) fn wall_clock_seconds() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_micros() as f64 / 1e6)
}
