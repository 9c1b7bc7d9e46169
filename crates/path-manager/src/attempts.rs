//! When a subflow that is wanted is opened, and opened again.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use crate::Nanos;

/// Before what has closed or failed is opened again, the first time.
const FIRST_PAUSE: Nanos = 200_000_000;
/// The longest pause.
const LONGEST_PAUSE: Nanos = 30_000_000_000;

/// How long the peer's answer is waited for.
const PATIENCE: Nanos = 3_000_000_000;

/// What was tried on one pair of addresses of one connection.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Orders given since the address appeared.
    ordered: usize,
    /// Orders whose outcome is not known yet.
    under_way: usize,
    /// Failures since the last success.
    failures: u32,
    /// When the last was ordered.
    since: Nanos,
    /// Not before this time.
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

/// What was tried, by connection and addresses.
#[derive(Debug, Default)]
pub(crate) struct Attempts(HashMap<Place, Attempt>);

impl Attempts {
    /// How many are under way.
    pub(crate) fn under_way(&self, token: u32, local: IpAddr, remote: SocketAddr) -> usize {
        self.0
            .get(&(token, local, remote))
            .map_or(0, |attempt| attempt.under_way)
    }

    /// Whether another may be tried now: `first` of them once, and more as time goes by where what
    /// fails is opened again.
    pub(crate) fn may_try(&self, now: Nanos, place: Place, first: usize, refresh: bool) -> bool {
        let Some(attempt) = self.0.get(&place) else {
            return true;
        };
        attempt.ordered < first || (refresh && now >= attempt.not_before)
    }

    /// One is ordered.
    pub(crate) fn ordered(&mut self, now: Nanos, place: Place) {
        let attempt = self.0.entry(place).or_default();
        attempt.ordered += 1;
        attempt.under_way += 1;
        attempt.since = now;
    }

    /// Those whose answer is overdue; they are no longer waited for.
    pub(crate) fn overdue(&mut self, now: Nanos) -> Vec<Place> {
        let mut overdue = Vec::new();
        for (place, attempt) in &mut self.0 {
            if attempt.under_way > 0 && now >= attempt.since + PATIENCE {
                attempt.under_way = 0;
                attempt.pause(now);
                overdue.push(*place);
            }
        }
        overdue
    }

    /// What becomes of those under way is not told any more.
    pub(crate) fn forget_outcomes(&mut self) {
        self.0
            .values_mut()
            .for_each(|attempt| attempt.under_way = 0);
    }

    /// One is established.
    pub(crate) fn succeeded(&mut self, token: u32, local: IpAddr, remote: SocketAddr) {
        if let Some(attempt) = self.0.get_mut(&(token, local, remote)) {
            attempt.under_way = attempt.under_way.saturating_sub(1);
            attempt.failures = 0;
        }
    }

    /// One that was ordered has failed.
    pub(crate) fn failed(&mut self, now: Nanos, place: Place) {
        let attempt = self.0.entry(place).or_default();
        attempt.under_way = attempt.under_way.saturating_sub(1);
        attempt.pause(now);
    }

    /// One that was established is closed, and nobody here had ordered that.
    pub(crate) fn closed(&mut self, now: Nanos, place: Place) {
        self.0.entry(place).or_default().pause(now);
    }

    /// The address is new: whatever was tried from it before does not count.
    pub(crate) fn forget_address(&mut self, local: IpAddr) {
        self.0.retain(|(_, other, _), _| *other != local);
    }

    /// The connection is closed.
    pub(crate) fn forget_connection(&mut self, token: u32) {
        self.0.retain(|(other, _, _), _| *other != token);
    }

    /// When an answer is overdue, or, where what fails is tried again, something may be.
    pub(crate) fn next(&self, now: Nanos, tries_again: bool) -> Option<Nanos> {
        let times = self.0.values().flat_map(|attempt| {
            let overdue = (attempt.under_way > 0).then_some(attempt.since + PATIENCE);
            [overdue, tries_again.then_some(attempt.not_before)]
        });
        times.flatten().filter(|time| *time > now).min()
    }
}
