//! A path that the user wants, and the state of its subflow.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::locals::Local;
use crate::options::Path;

/// Pause before a subflow that could not be opened is tried again, and the longest one.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// The subflow of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubflowState {
    /// None; it is opened when its pause is over.
    None,
    /// A subflow is being opened from this address.
    Opening(IpAddr),
    /// This subflow is open, from this address.
    Open(u32, IpAddr),
    /// It cannot be opened.
    GivenUp,
}

/// The next action for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing now.
    None,
    /// Open a subflow from here.
    Open(Local),
    /// Its address has gone: close this subflow.
    Close(u32),
}

/// A path and its state.
pub(super) struct PathState {
    pub(super) wanted: Path,
    pub(super) subflow: SubflowState,
    /// A subflow whose address went while there was no other; it is closed when there is.
    pub(super) stale: Option<u32>,
    not_before: Option<Instant>,
    pause: Duration,
}

impl PathState {
    pub(super) fn new(path: Path) -> Self {
        Self {
            wanted: path,
            subflow: SubflowState::None,
            stale: None,
            not_before: None,
            pause: PAUSE,
        }
    }

    /// The address of the path now, of the family of `peer`.
    pub(super) fn local<'a>(&self, locals: &'a [Local], peer: IpAddr) -> Option<&'a Local> {
        let named: Option<IpAddr> = self.wanted.from.parse().ok();
        let here = locals.iter().filter(|local| match named {
            Some(address) => local.address == address,
            None => {
                local.interface == self.wanted.from && local.address.is_ipv4() == peer.is_ipv4()
            }
        });
        // One that is deprecated serves where there is no other (RFC 4862, section 5.5.4).
        here.min_by_key(|local| local.is_deprecated)
    }

    /// The path was given as an interface, to which its subflow is bound.
    pub(super) fn is_interface(&self) -> bool {
        self.wanted.from.parse::<IpAddr>().is_err()
    }

    /// Decides what to do, with these addresses of the host.
    pub(super) fn next_action(&self, locals: &[Local], peer: IpAddr, now: Instant) -> Action {
        let local = self.local(locals, peer);
        match self.subflow {
            SubflowState::Open(id, address)
                if local.is_none_or(|local| local.address != address) =>
            {
                Action::Close(id)
            }
            SubflowState::None if self.not_before.is_none_or(|at| at <= now) => {
                local.map_or(Action::None, |local| Action::Open(local.clone()))
            }
            _ => Action::None,
        }
    }

    /// Notes that its subflow could not be opened, or has closed: tries later again, or not at all.
    pub(super) fn failed(&mut self, again: bool) {
        if again {
            self.postpone(Instant::now());
        } else {
            self.subflow = SubflowState::GivenUp;
        }
    }

    fn postpone(&mut self, now: Instant) {
        self.subflow = SubflowState::None;
        self.not_before = now.checked_add(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// Ends the pause: the addresses have changed, and opening may work now.
    pub(super) fn refresh(&mut self) {
        self.not_before = None;
        self.pause = PAUSE;
    }

    /// When the pause ends.
    pub(super) fn retry_at(&self) -> Option<Instant> {
        self.not_before
            .filter(|_| self.subflow == SubflowState::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(from: &str) -> PathState {
        PathState::new(Path {
            name: "wifi".to_owned(),
            from: from.to_owned(),
            backup: false,
        })
    }

    fn local(address: &str) -> Local {
        Local {
            address: address.parse().unwrap(),
            interface: "wlan0".to_owned(),
            is_deprecated: false,
        }
    }

    #[test]
    fn a_path_follows_its_interface() {
        let (peer, now) = ("10.0.4.7".parse().unwrap(), Instant::now());
        let mut path = path("wlan0");
        let here = [local("fd00::6"), local("10.0.2.6")];
        assert_eq!(path.next_action(&[], peer, now), Action::None);
        assert_eq!(
            path.next_action(&here, peer, now),
            Action::Open(here[1].clone())
        );
        path.subflow = SubflowState::Opening(here[1].address);
        assert_eq!(path.next_action(&here, peer, now), Action::None);
        path.subflow = SubflowState::Open(3, here[1].address);
        assert_eq!(path.next_action(&here, peer, now), Action::None);
        assert_eq!(path.next_action(&[], peer, now), Action::Close(3));
        // One to which nothing new shall go comes last.
        let deprecated = Local {
            is_deprecated: true,
            ..here[1].clone()
        };
        let both = [deprecated, local("10.0.9.6")];
        assert_eq!(path.local(&both, peer), Some(&both[1]));
        assert_eq!(path.local(&both[..1], peer), Some(&both[0]));
        // Another address of the same interface is another path.
        assert_eq!(
            path.next_action(&[local("10.0.9.6")], peer, now),
            Action::Close(3)
        );
    }

    #[test]
    fn what_failed_waits_longer_each_time_until_something_changes() {
        let (peer, mut now) = ("10.0.4.7".parse().unwrap(), Instant::now());
        let mut path = path("10.0.2.6");
        let here = [local("10.0.2.6")];
        for pause_ms in [500, 1000, 2000, 4000, 8000, 8000] {
            path.postpone(now);
            assert_eq!(path.retry_at(), Some(now + Duration::from_millis(pause_ms)));
            assert_eq!(path.next_action(&here, peer, now), Action::None);
            now += Duration::from_millis(pause_ms);
            assert_ne!(path.next_action(&here, peer, now), Action::None);
        }
        path.postpone(now);
        path.refresh();
        assert_ne!(path.next_action(&here, peer, now), Action::None);
    }
}
