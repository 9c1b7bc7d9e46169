//! Limits of one user: amounts and rate.

use std::time::{Duration, Instant};

use serde::Deserialize;

/// How many users are served at once; each takes a thread.
pub(crate) const USERS: usize = 64;
/// The most messages that wait for a client. The session of one that does not read is closed.
pub(crate) const OUTBOX_MESSAGES: usize = 128;
/// Requests of one session that are carried out in one turn.
pub(crate) const TURN_REQUESTS: usize = 8;
/// Options that are set and read for one user at once.
pub(crate) const MOST_OPTIONS: usize = 64;
/// The longest wait for a peer.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// Burst: a user may send the requests of so long a time at once.
const BURST: Duration = Duration::from_secs(1);

/// Limits of one user, which all their programs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Sessions with the broker.
    pub sessions: usize,
    /// Subflows that are being opened.
    pub opens: usize,
    /// Watched connections.
    pub watches: usize,
    /// Requests a second. Faster clients are read more slowly.
    pub requests_per_second: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 2048,
            opens: 256,
            watches: 1024,
            requests_per_second: 10_000,
        }
    }
}

impl Limits {
    /// Lowers the limits to what fits a process that may have so many descriptors.
    pub(crate) fn within(self, descriptors: u64) -> Self {
        let part = |of: u64| {
            usize::try_from(descriptors / of)
                .unwrap_or(usize::MAX)
                .max(1)
        };
        Self {
            sessions: self.sessions.min(part(8)),
            opens: self.opens.min(part(16)),
            watches: self.watches.min(part(8)),
            ..self
        }
    }
}

/// A rate that may be exceeded for a moment (the generic cell rate algorithm of ITU-T I.371).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    interval: Duration,
    burst: Duration,
    /// When the last request taken would have been due at that rate.
    due: Option<Instant>,
}

impl Bucket {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            interval: Duration::from_secs(1) / per_second.max(1),
            burst: BURST,
            due: None,
        }
    }

    /// How long until the next one may be taken; `None` where it may be now.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        let early = self.due?.checked_duration_since(now)?;
        early.checked_sub(self.burst).filter(|wait| !wait.is_zero())
    }

    /// Takes one in any case.
    pub(crate) fn take(&mut self, now: Instant) {
        self.due = Some(self.due.map_or(now, |due| due.max(now)) + self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_at_once_and_the_rest_at_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(10);
        let mut taken = 0;
        while bucket.wait(start).is_none() {
            bucket.take(start);
            taken += 1;
        }
        assert_eq!(taken, 11);
        assert_eq!(bucket.wait(start), Some(Duration::from_millis(100)));
        let later = start + Duration::from_millis(100);
        assert_eq!(bucket.wait(later), None);
        bucket.take(later);
        assert!(bucket.wait(later).is_some());
    }

    #[test]
    fn what_was_not_used_is_not_saved_beyond_the_burst() {
        let start = Instant::now();
        let mut bucket = Bucket::new(10);
        bucket.take(start);
        let later = start + Duration::from_secs(3600);
        let taken = (0..1000)
            .take_while(|_| {
                let may = bucket.wait(later).is_none();
                bucket.take(later);
                may
            })
            .count();
        assert_eq!(taken, 11);
    }

    #[test]
    fn few_descriptors_leave_something_for_everybody() {
        let limits = Limits::default().within(64);
        assert_eq!((limits.sessions, limits.opens, limits.watches), (8, 4, 8));
        assert_eq!(Limits::default().within(1 << 20), Limits::default());
    }
}
