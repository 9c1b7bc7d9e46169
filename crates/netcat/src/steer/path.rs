//! One path that the user wishes, and what has become of it.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::locals::Local;
use crate::options::Path;

/// Pause before a subflow that could not be opened is tried again, and the longest one.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What there is of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing; it is tried when its time comes.
    None,
    /// A subflow is being opened from this address.
    Opening(IpAddr),
    /// It has this subflow, from this address.
    Open(u32, IpAddr),
    /// It cannot be had.
    GivenUp,
}

/// What is to be done about a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing now.
    Rest,
    /// Open a subflow from here.
    Open(Local),
    /// Its address has gone: close this subflow.
    Close(u32),
}

/// A path and its state.
pub(super) struct Way {
    pub(super) path: Path,
    pub(super) state: State,
    /// A subflow whose address went while there was no other; it is closed when there is.
    pub(super) stale: Option<u32>,
    not_before: Option<Instant>,
    pause: Duration,
}

impl Way {
    pub(super) fn new(path: Path) -> Self {
        Self {
            path,
            state: State::None,
            stale: None,
            not_before: None,
            pause: PAUSE,
        }
    }

    /// The address that it has now, of the family of `peer`.
    pub(super) fn local<'a>(&self, locals: &'a [Local], peer: IpAddr) -> Option<&'a Local> {
        let named: Option<IpAddr> = self.path.from.parse().ok();
        let here = locals.iter().filter(|local| match named {
            Some(address) => local.address == address,
            None => local.interface == self.path.from && local.address.is_ipv4() == peer.is_ipv4(),
        });
        // One that is deprecated serves where there is no other (RFC 4862, section 5.5.4).
        here.min_by_key(|local| local.is_deprecated)
    }

    /// Whether the path was given as an interface, to which its subflow is then bound.
    pub(super) fn is_interface(&self) -> bool {
        self.path.from.parse::<IpAddr>().is_err()
    }

    /// What to do, with the addresses that there are now.
    pub(super) fn step(&self, locals: &[Local], peer: IpAddr, now: Instant) -> Step {
        let local = self.local(locals, peer);
        match self.state {
            State::Open(id, address) if local.is_none_or(|local| local.address != address) => {
                Step::Close(id)
            }
            State::None if self.not_before.is_none_or(|at| at <= now) => {
                local.map_or(Step::Rest, |local| Step::Open(local.clone()))
            }
            _ => Step::Rest,
        }
    }

    /// It could not be opened, or closed by itself: later again, or not at all.
    pub(super) fn failed(&mut self, again: bool) {
        if again {
            self.postpone(Instant::now());
        } else {
            self.state = State::GivenUp;
        }
    }

    fn postpone(&mut self, now: Instant) {
        self.state = State::None;
        self.not_before = now.checked_add(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// Its address has changed: what failed before may work now.
    pub(super) fn refresh(&mut self) {
        self.not_before = None;
        self.pause = PAUSE;
    }

    /// When it has to be looked at again.
    pub(super) fn due(&self) -> Option<Instant> {
        self.not_before.filter(|_| self.state == State::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(from: &str) -> Way {
        Way::new(Path {
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
        let mut way = way("wlan0");
        let here = [local("fd00::6"), local("10.0.2.6")];
        assert_eq!(way.step(&[], peer, now), Step::Rest);
        assert_eq!(way.step(&here, peer, now), Step::Open(here[1].clone()));
        way.state = State::Opening(here[1].address);
        assert_eq!(way.step(&here, peer, now), Step::Rest);
        way.state = State::Open(3, here[1].address);
        assert_eq!(way.step(&here, peer, now), Step::Rest);
        assert_eq!(way.step(&[], peer, now), Step::Close(3));
        // One to which nothing new shall go comes last.
        let deprecated = Local {
            is_deprecated: true,
            ..here[1].clone()
        };
        let both = [deprecated, local("10.0.9.6")];
        assert_eq!(way.local(&both, peer), Some(&both[1]));
        assert_eq!(way.local(&both[..1], peer), Some(&both[0]));
        // Another address of the same interface is another path.
        assert_eq!(way.step(&[local("10.0.9.6")], peer, now), Step::Close(3));
    }

    #[test]
    fn what_failed_waits_longer_each_time_until_something_changes() {
        let (peer, mut now) = ("10.0.4.7".parse().unwrap(), Instant::now());
        let mut way = way("10.0.2.6");
        let here = [local("10.0.2.6")];
        for pause_ms in [500, 1000, 2000, 4000, 8000, 8000] {
            way.postpone(now);
            assert_eq!(way.due(), Some(now + Duration::from_millis(pause_ms)));
            assert_eq!(way.step(&here, peer, now), Step::Rest);
            now += Duration::from_millis(pause_ms);
            assert_ne!(way.step(&here, peer, now), Step::Rest);
        }
        way.postpone(now);
        way.refresh();
        assert_ne!(way.step(&here, peer, now), Step::Rest);
    }
}
