//! Subflows that were asked for, and paths that failed and are tried again later.

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use crate::{Nanos, Path};

/// A path is not tried again before one of its addresses comes back or is announced again.
const NEVER: Nanos = Nanos::MAX;

/// For how long a path that failed is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    /// After the first failure; doubled with every further one.
    pub first: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// Attempts to open subflows of one connection.
#[derive(Clone, Debug)]
pub struct Attempts {
    pauses: Pauses,
    /// Those of whose paths there is something to know.
    paths: Vec<(Path, Attempt)>,
}

/// Attempts on one path.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Subflows that were asked for and are neither there nor refused.
    requested: usize,
    /// When the last of them was asked for.
    since: Nanos,
    /// Failures since a subflow on it worked.
    failures: u32,
    /// When it may be tried again; [`NEVER`] where it may not.
    until: Option<Nanos>,
}

impl Attempts {
    /// None yet.
    pub fn new(pauses: Pauses) -> Self {
        Self {
            pauses,
            paths: Vec::new(),
        }
    }

    /// Notes that a subflow is asked for; it counts as begun until this is answered.
    pub fn request(&mut self, now: Nanos, path: Path) {
        self.change(path, |attempt| {
            attempt.requested += 1;
            attempt.since = now;
        });
    }

    /// Notes the answer to a request: the subflow is there, or could not be had.
    pub fn answered(&mut self, path: Path) {
        self.change(path, |attempt| {
            attempt.requested = attempt.requested.saturating_sub(1);
        });
    }

    /// The path of each subflow that was asked for and has no answer yet.
    pub fn requested(&self) -> impl Iterator<Item = Path> {
        let every = self.paths.iter();
        every.flat_map(|(path, attempt)| core::iter::repeat_n(*path, attempt.requested))
    }

    /// Takes the paths on which no request was answered for so long: the requests are forgotten.
    pub fn overdue(&mut self, now: Nanos, patience: Nanos) -> Vec<Path> {
        let is_overdue = |(_, attempt): &&(Path, Attempt)| {
            attempt.requested > 0 && now >= attempt.since + patience
        };
        let overdue = self.paths.iter().filter(is_overdue).map(|(path, _)| *path);
        let overdue: Vec<_> = overdue.collect();
        for &path in &overdue {
            self.change(path, |attempt| attempt.requested = 0);
        }
        overdue
    }

    /// When requests become overdue next.
    pub fn overdue_at(&self, patience: Nanos) -> Option<Nanos> {
        let waiting = self.paths.iter().filter(|(_, one)| one.requested > 0);
        waiting.map(|(_, one)| one.since + patience).min()
    }

    /// Forgets requests whose answers were lost.
    pub fn forget_requests(&mut self) {
        self.paths.retain_mut(|(_, attempt)| {
            attempt.requested = 0;
            attempt.is_of_use()
        });
    }

    /// Does not try a path for a while, as a subflow on it failed.
    pub fn hold_off(&mut self, now: Nanos, path: Path) {
        let pauses = self.pauses;
        self.change(path, |attempt| {
            if attempt.until != Some(NEVER) {
                attempt.until = Some(now + pauses.after(attempt.failures));
                attempt.failures = attempt.failures.saturating_add(1);
            }
        });
    }

    /// Does not try a path again, as it is unfit for subflows.
    pub fn give_up(&mut self, path: Path) {
        self.change(path, |attempt| attempt.until = Some(NEVER));
    }

    /// Notes that a subflow on a path works.
    pub fn works(&mut self, path: Path) {
        self.change(path, |attempt| {
            attempt.failures = 0;
            attempt.until = None;
        });
    }

    /// Paths that failed and are not to be tried now.
    pub fn held_off(&self, now: Nanos) -> impl Iterator<Item = Path> {
        let held = self.paths.iter().filter(move |(_, attempt)| {
            let until = attempt.until;
            until.is_some_and(|until| until > now)
        });
        held.map(|(path, _)| *path)
    }

    /// Forgets all about paths from an address, as it is back.
    pub fn retry_from(&mut self, local: IpAddr) {
        self.paths.retain(|(path, _)| path.local != local);
    }

    /// Lets paths to an address be tried again, as it was announced again.
    pub fn retry_to(&mut self, remote: SocketAddr) {
        let to = self.paths.iter().map(|(path, _)| *path);
        let to: Vec<_> = to.filter(|path| path.remote == remote).collect();
        to.into_iter().for_each(|path| self.works(path));
    }

    /// Lets paths be tried again whose pause is over.
    pub fn on_deadline(&mut self, now: Nanos) {
        for (_, attempt) in &mut self.paths {
            attempt.until = attempt.until.filter(|until| *until > now);
        }
    }

    /// When a path may be tried again.
    #[inline]
    pub fn deadline(&self) -> Option<Nanos> {
        let untils = self.paths.iter().filter_map(|(_, attempt)| attempt.until);
        untils.filter(|until| *until != NEVER).min()
    }

    fn change(&mut self, path: Path, change: impl FnOnce(&mut Attempt)) {
        let known = self.paths.iter().position(|(known, _)| *known == path);
        let place = known.unwrap_or_else(|| {
            self.paths.push((path, Attempt::default()));
            self.paths.len() - 1
        });
        let attempt = &mut self.paths[place].1;
        change(attempt);
        if !attempt.is_of_use() {
            self.paths.swap_remove(place);
        }
        if self.paths.is_empty() {
            // Most connections have no more.
            self.paths = Vec::new();
        }
    }
}

impl Attempt {
    fn is_of_use(&self) -> bool {
        self.requested > 0 || self.failures > 0 || self.until.is_some()
    }
}

impl Pauses {
    /// The pause after so many failures before this one.
    fn after(self, failures: u32) -> Nanos {
        let factor = 1u64.checked_shl(failures).unwrap_or(u64::MAX);
        self.first.saturating_mul(factor).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSES: Pauses = Pauses {
        first: 10,
        longest: 35,
    };

    fn path(host: u8) -> Path {
        Path {
            local: IpAddr::from([10, 0, host, 1]),
            remote: ([10, 0, 9, 1], 80).into(),
        }
    }

    fn held_off(attempts: &Attempts, now: Nanos) -> Vec<Path> {
        attempts.held_off(now).collect()
    }

    #[test]
    fn a_path_that_fails_is_tried_ever_more_rarely_until_it_works() {
        let mut attempts = Attempts::new(PAUSES);
        for (now, due) in [(0, 10), (10, 30), (30, 65), (65, 100)] {
            attempts.hold_off(now, path(1));
            assert_eq!(attempts.deadline(), Some(due));
            assert_eq!(held_off(&attempts, due - 1), [path(1)]);
            assert_eq!(held_off(&attempts, due), []);
            attempts.on_deadline(due);
            assert_eq!(attempts.deadline(), None);
        }
        attempts.works(path(1));
        attempts.hold_off(100, path(1));
        assert_eq!(attempts.deadline(), Some(110));
    }

    #[test]
    fn however_often_a_path_fails_a_pause_has_an_end() {
        assert_eq!(PAUSES.after(u32::MAX), 35);
        let without_end = Pauses {
            longest: Nanos::MAX,
            ..PAUSES
        };
        assert_eq!(without_end.after(63), Nanos::MAX);
    }

    #[test]
    fn what_is_given_up_waits_for_one_of_its_addresses() {
        let again: [fn(&mut Attempts); 3] = [
            |attempts| attempts.retry_from(path(1).local),
            |attempts| attempts.retry_to(path(1).remote),
            |attempts| attempts.works(path(1)),
        ];
        for again in again {
            let mut attempts = Attempts::new(PAUSES);
            attempts.give_up(path(1));
            attempts.hold_off(0, path(1));
            attempts.on_deadline(Nanos::MAX - 1);
            assert_eq!(attempts.deadline(), None);
            assert_eq!(held_off(&attempts, Nanos::MAX - 1), [path(1)]);
            again(&mut attempts);
            assert_eq!(held_off(&attempts, 0), []);
        }
    }

    #[test]
    fn requests_count_until_they_are_answered_or_overdue() {
        let mut attempts = Attempts::new(PAUSES);
        for (now, host) in [(0, 1), (5, 1), (7, 2)] {
            attempts.request(now, path(host));
        }
        let requested = |attempts: &Attempts| attempts.requested().collect::<Vec<_>>();
        assert_eq!(requested(&attempts), [path(1), path(1), path(2)]);
        attempts.answered(path(1));
        attempts.answered(path(3));
        assert_eq!(requested(&attempts), [path(1), path(2)]);
        assert_eq!(attempts.overdue_at(100), Some(105));
        assert_eq!(attempts.overdue(104, 100), []);
        assert_eq!(attempts.overdue(105, 100), [path(1)]);
        assert_eq!(requested(&attempts), [path(2)]);
        attempts.forget_requests();
        assert_eq!(attempts.overdue_at(100), None);
    }

    #[test]
    fn what_came_to_nothing_leaves_nothing_behind() {
        let mut attempts = Attempts::new(PAUSES);
        attempts.request(0, path(1));
        attempts.answered(path(1));
        attempts.hold_off(0, path(2));
        attempts.retry_to(path(2).remote);
        assert!(attempts.paths.is_empty());
    }
}
