//! Subflows that were asked for, and paths that failed and are tried again later.

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use crate::Nanos;
use crate::path_manager::Path;
use crate::tcp::FourTuple;

/// Pause before a path that failed is tried again; doubled with every failure.
const RETRY_NS: Nanos = 1_000_000_000;
/// The longest such pause.
const MAX_RETRY_NS: Nanos = 64_000_000_000;

/// A path is not tried again before one of its addresses comes back or is announced again.
const NEVER: Nanos = Nanos::MAX;

/// Attempts to open subflows.
#[derive(Debug, Default)]
pub(super) struct PathAttempts {
    held_off: Vec<HeldOff>,
    requested: Vec<Path>,
}

/// A path that failed.
#[derive(Clone, Copy, Debug)]
struct HeldOff {
    path: Path,
    /// When it may be tried again; 0 once it may, [`NEVER`] where it may not.
    until: Nanos,
    pause: Nanos,
}

impl PathAttempts {
    /// Notes that a subflow is asked for; it is not asked for again before it is opened.
    pub(super) fn request(&mut self, path: Path) {
        self.requested.push(path);
    }

    /// Notes that a subflow was opened that was asked for.
    pub(super) fn opened(&mut self, tuple: &FourTuple) {
        let path = path_of(tuple);
        if let Some(place) = self.requested.iter().position(|known| *known == path) {
            self.requested.swap_remove(place);
        }
    }

    /// Paths on which subflows were asked for and not opened yet.
    pub(super) fn requested(&self) -> &[Path] {
        &self.requested
    }

    /// Does not try a path for a while, as a subflow on it failed.
    pub(super) fn hold_off(&mut self, now: Nanos, tuple: &FourTuple) {
        let path = path_of(tuple);
        match self.held_off.iter_mut().find(|held| held.path == path) {
            Some(held) if held.until == NEVER => {}
            Some(held) => {
                held.pause = (2 * held.pause).min(MAX_RETRY_NS);
                held.until = now + held.pause;
            }
            None => self.held_off.push(HeldOff {
                path,
                until: now + RETRY_NS,
                pause: RETRY_NS,
            }),
        }
    }

    /// Does not try a path again, as it is unfit for subflows, as an end has said.
    pub(super) fn give_up(&mut self, tuple: &FourTuple) {
        let path = path_of(tuple);
        self.held_off.retain(|held| held.path != path);
        self.held_off.push(HeldOff {
            path,
            until: NEVER,
            pause: MAX_RETRY_NS,
        });
    }

    /// Notes that a subflow on a path works.
    pub(super) fn works(&mut self, tuple: &FourTuple) {
        let path = path_of(tuple);
        self.held_off.retain(|held| held.path != path);
    }

    /// Paths that failed and are not to be tried now.
    pub(super) fn held_off(&self, now: Nanos) -> impl Iterator<Item = Path> {
        self.held_off
            .iter()
            .filter(move |held| held.until > now)
            .map(|held| held.path)
    }

    /// Lets paths from an address be tried again, as it is back.
    pub(super) fn retry_from(&mut self, local: IpAddr) {
        self.held_off.retain(|held| held.path.local != local);
    }

    /// Lets paths to an address be tried again, as it was announced again.
    pub(super) fn retry_to(&mut self, remote: SocketAddr) {
        self.held_off.retain(|held| held.path.remote != remote);
    }

    /// Lets paths be tried again whose pause is over.
    pub(super) fn on_deadline(&mut self, now: Nanos) {
        for held in &mut self.held_off {
            if held.until <= now {
                held.until = 0;
            }
        }
    }

    /// When a path may be tried again.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Nanos> {
        let retries = self.held_off.iter().map(|held| held.until);
        retries.filter(|until| *until != 0 && *until != NEVER).min()
    }
}

/// The address pair of a subflow.
pub(super) fn path_of(tuple: &FourTuple) -> Path {
    Path {
        local: tuple.local.ip(),
        remote: tuple.remote,
    }
}
