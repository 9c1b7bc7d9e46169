//! One experiment at a target, which has it to itself until it is given back.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::authorisation::{OPENING_BYTES, Secret, random};
use crate::bucket::Bucket;
use crate::data::{Shared, piece_bytes};
use crate::message::{Ended, Experiment, Role};

/// Time beyond that of the experiment for its connections to come and to end.
pub(crate) const SLACK: Duration = Duration::from_secs(10);

/// An experiment that was granted.
pub(crate) struct Lease {
    /// Number of the holder.
    pub(crate) holder: usize,
    pub(crate) nonce: [u8; 16],
    pub(crate) experiment: Experiment,
    secret: Secret,
    /// The end of it, whatever the holder does.
    pub(crate) until: Instant,
    stopped: AtomicBool,
    left_bytes: AtomicU64,
    moved_bytes: AtomicU64,
    began: OnceLock<Instant>,
    bucket: Option<Mutex<Bucket>>,
    rate_limit_bps: Option<u64>,
    slots: Mutex<Vec<Slot>>,
    changed: Condvar,
}

/// The place of a connection.
#[derive(Clone)]
enum Slot {
    Free,
    Taken,
    Ended(Box<Ended>),
}

impl Lease {
    pub(crate) fn new(
        holder: usize,
        secret: Secret,
        experiment: Experiment,
        rate_limit_bps: Option<u64>,
    ) -> Self {
        let longest = Duration::from_millis(experiment.longest_ms.into());
        Self {
            holder,
            nonce: random(),
            secret,
            until: Instant::now() + longest + SLACK,
            stopped: AtomicBool::new(false),
            left_bytes: AtomicU64::new(experiment.bytes),
            moved_bytes: AtomicU64::new(0),
            began: OnceLock::new(),
            bucket: rate_limit_bps.map(|rate| Mutex::new(Bucket::new(rate / 8))),
            rate_limit_bps,
            slots: Mutex::new(vec![Slot::Free; experiment.connections.len()]),
            changed: Condvar::new(),
            experiment,
        }
    }

    /// Takes the place of the connection that begins so; `None` where it has no authorisation, or
    /// used it before.
    pub(crate) fn admit(&self, opening: &[u8; OPENING_BYTES]) -> Option<(usize, Role)> {
        let place = usize::from(self.secret.place(&self.nonce, opening)?);
        let role = *self.experiment.connections.get(place)?;
        let mut slots = self.slots.lock().expect("no panic");
        if self.is_over() || !matches!(slots[place], Slot::Free) {
            return None;
        }
        slots[place] = Slot::Taken;
        Some((place, role))
    }

    /// Runs the data of a connection that was admitted, and keeps its account.
    pub(crate) fn carry(&self, place: usize, work: impl FnOnce(&Shared<'_>, &mut Ended)) {
        let mut account = Ended::default();
        let began = *self.began.get_or_init(Instant::now);
        let longest = Duration::from_millis(self.experiment.longest_ms.into());
        // Sending ends in time; data that come may take a little longer.
        let until = match self.experiment.connections[place] {
            Role::Send => self.until.min(began + longest),
            Role::Receive | Role::Echo(_) | Role::Compare(_) => self.until,
        };
        let shared = Shared {
            left_bytes: &self.left_bytes,
            moved_bytes: &self.moved_bytes,
            began,
            until,
            is_stopped: &|| self.stopped.load(Ordering::Relaxed),
            bucket: self.bucket.as_ref(),
            piece_bytes: piece_bytes(
                self.experiment.bulk_connections(),
                self.experiment.bytes,
                self.rate_limit_bps,
            ),
        };
        work(&shared, &mut account);
        self.slots.lock().expect("no panic")[place] = Slot::Ended(Box::new(account));
        self.changed.notify_all();
    }

    /// Ends all of its connections.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// Waits until no connection is under way, at most so long, and ends those that are then. Gives
    /// the accounts.
    pub(crate) fn finish(&self, within: Duration) -> Vec<Option<Ended>> {
        let is_busy = |slots: &mut Vec<Slot>| slots.iter().any(|slot| matches!(slot, Slot::Taken));
        let slots = self.slots.lock().expect("no panic");
        let (slots, _) = self
            .changed
            .wait_timeout_while(slots, within, is_busy)
            .expect("no panic");
        self.stop();
        // Each of them looks within a twentieth of a second, or once it has waited for its last piece
        // by the limit of rate.
        let (slots, _) = self
            .changed
            .wait_timeout_while(slots, SLACK, is_busy)
            .expect("no panic");
        let ended = slots.iter().map(|slot| match slot {
            Slot::Ended(account) => Some(Ended::clone(account)),
            Slot::Free | Slot::Taken => None,
        });
        ended.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> (Secret, Lease) {
        let secret = Secret::new(b"secret");
        let experiment = Experiment {
            bytes: 10,
            longest_ms: 1_000,
            congestion_control: None,
            connections: vec![Role::Send, Role::Echo(1)],
        };
        (secret.clone(), Lease::new(0, secret, experiment, None))
    }

    #[test]
    fn an_authorisation_is_good_once_and_within_the_lease() {
        let (secret, lease) = lease();
        let first = secret.opening(&lease.nonce, 0);
        assert_eq!(lease.admit(&first), Some((0, Role::Send)));
        assert_eq!(lease.admit(&first), None);
        assert_eq!(lease.admit(&secret.opening(&lease.nonce, 2)), None);
        assert_eq!(lease.admit(&secret.opening(b"another", 1)), None);
        lease.stop();
        assert_eq!(lease.admit(&secret.opening(&lease.nonce, 1)), None);
    }

    #[test]
    fn a_connection_that_never_came_has_no_account() {
        let (secret, lease) = lease();
        let (place, _) = lease.admit(&secret.opening(&lease.nonce, 1)).unwrap();
        lease.carry(place, |_, account| account.sent_bytes = 7);
        let ended = lease.finish(Duration::ZERO);
        assert!(ended[0].is_none() && ended[1].as_ref().unwrap().sent_bytes == 7);
    }
}
