//! When a desired subflow is opened, and opened again.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use crate::Nanos;

/// Pause after the first failure or close.
const FIRST_PAUSE: Nanos = 200_000_000;
/// The longest pause.
const LONGEST_PAUSE: Nanos = 30_000_000_000;

/// Timeout of the peer's answer.
const TIMEOUT: Nanos = 3_000_000_000;

/// Attempts on one pair of addresses of one connection.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Attempts since the address appeared.
    started: usize,
    /// Attempts whose result is not known yet.
    pending: usize,
    /// Failures since the last success.
    failures: u32,
    /// Time of the last attempt.
    since: Nanos,
    /// No retry before this time.
    not_before: Nanos,
}

impl Attempt {
    fn pause(&mut self, now: Nanos) {
        let pause = FIRST_PAUSE << self.failures.min(16);
        self.not_before = now + pause.min(LONGEST_PAUSE);
        self.failures += 1;
    }
}

/// Token of a connection, address of this host, end of the peer.
pub(crate) type Place = (u32, IpAddr, SocketAddr);

/// Attempts by connection and addresses.
#[derive(Debug, Default)]
pub(crate) struct Retries(HashMap<Place, Attempt>);

impl Retries {
    /// Number of attempts whose result is not known yet.
    pub(crate) fn pending(&self, token: u32, local: IpAddr, remote: SocketAddr) -> usize {
        self.0
            .get(&(token, local, remote))
            .map_or(0, |attempt| attempt.pending)
    }

    /// Tells whether one more attempt may be made now: the first `first` at once, later ones after a
    /// pause where failures are retried.
    pub(crate) fn may_try(&self, now: Nanos, place: Place, first: usize, refresh: bool) -> bool {
        let Some(attempt) = self.0.get(&place) else {
            return true;
        };
        attempt.started < first || (refresh && now >= attempt.not_before)
    }

    /// Notes a new attempt.
    pub(crate) fn started(&mut self, now: Nanos, place: Place) {
        let attempt = self.0.entry(place).or_default();
        attempt.started += 1;
        attempt.pending += 1;
        attempt.since = now;
    }

    /// Takes those whose answer is overdue.
    pub(crate) fn overdue(&mut self, now: Nanos) -> Vec<Place> {
        let mut overdue = Vec::new();
        for (place, attempt) in &mut self.0 {
            if attempt.pending > 0 && now >= attempt.since + TIMEOUT {
                attempt.pending = 0;
                attempt.pause(now);
                overdue.push(*place);
            }
        }
        overdue
    }

    /// Forgets pending attempts, whose events were lost.
    pub(crate) fn forget_pending(&mut self) {
        self.0.values_mut().for_each(|attempt| attempt.pending = 0);
    }

    /// Notes that a subflow was established.
    pub(crate) fn succeeded(&mut self, token: u32, local: IpAddr, remote: SocketAddr) {
        if let Some(attempt) = self.0.get_mut(&(token, local, remote)) {
            attempt.pending = attempt.pending.saturating_sub(1);
            attempt.failures = 0;
        }
    }

    /// Notes that an attempt failed.
    pub(crate) fn failed(&mut self, now: Nanos, place: Place) {
        let attempt = self.0.entry(place).or_default();
        attempt.pending = attempt.pending.saturating_sub(1);
        attempt.pause(now);
    }

    /// Notes that an established subflow was closed, though not from here.
    pub(crate) fn closed(&mut self, now: Nanos, place: Place) {
        self.0.entry(place).or_default().pause(now);
    }

    /// Forgets the attempts from an address, which is new.
    pub(crate) fn forget_address(&mut self, local: IpAddr) {
        self.0.retain(|(_, other, _), _| *other != local);
    }

    /// Forgets the attempts of a connection, which is closed.
    pub(crate) fn forget_connection(&mut self, token: u32) {
        self.0.retain(|(other, _, _), _| *other != token);
    }

    /// When an answer becomes overdue, or a retry is due where failures are retried.
    pub(crate) fn next(&self, now: Nanos, retries_failures: bool) -> Option<Nanos> {
        let times = self.0.values().flat_map(|attempt| {
            let overdue = (attempt.pending > 0).then_some(attempt.since + TIMEOUT);
            [overdue, retries_failures.then_some(attempt.not_before)]
        });
        times.flatten().filter(|time| *time > now).min()
    }
}
