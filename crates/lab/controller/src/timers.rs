//! Times at which something is due.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::forwarding::waiting::Cause;
use crate::place::PortRef;

/// Something that is due at a time. What is no longer wanted then is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// Echo requests, and the end of connections on which they are not answered.
    Echo,
    /// Frames of discovery, and the end of links that are too old.
    Discovery,
    /// A frame of discovery is sent by a port between two rounds.
    Between(PortRef),
    /// Counters of ports are read.
    Load,
    /// Their answers are looked at, and so are subflows that may have a better path.
    Review,
    /// A port without a link is one of hosts from now on.
    Settled(PortRef),
    /// Packets that wait have waited long enough.
    Waiting(Cause),
    /// A host has not defended its address.
    Probe(IpAddr),
    /// Switches have not confirmed the rules of a subflow.
    Install(u64),
    /// The counters of a connection are read.
    Count(u64),
    /// A connection without rules is forgotten.
    Forget(u64),
}

/// All timers; equal times are in the order of the kinds above.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers(BTreeSet<(u64, Timer)>);

impl Timers {
    pub(crate) fn set(&mut self, at_ns: u64, timer: Timer) {
        self.0.insert((at_ns, timer));
    }

    /// Sets a timer of a kind that there is one of.
    pub(crate) fn restart(&mut self, at_ns: u64, timer: Timer) {
        self.0.retain(|(_, other)| *other != timer);
        self.set(at_ns, timer);
    }

    pub(crate) fn clear(&mut self, at_ns: u64, timer: Timer) {
        self.0.remove(&(at_ns, timer));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn next(&self) -> Option<u64> {
        self.0.first().map(|(at_ns, _)| *at_ns)
    }

    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<Timer> {
        self.next().filter(|at_ns| *at_ns <= now_ns)?;
        self.0.pop_first().map(|(_, timer)| timer)
    }
}
