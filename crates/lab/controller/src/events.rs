//! Events of a controller, for people and recordings.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::place::{Link, PortRef};
use crate::subflows::Flow;

/// Events that are kept.
const KEPT: usize = 4096;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A switch is ready.
    SwitchUp(u64),
    /// The connection of a switch ended.
    SwitchDown(u64),
    /// A switch has another master, or knows no roles: the controller is one of several that may
    /// change it, or may change nothing.
    NotMaster(u64),
    /// A link was found, in both directions.
    LinkUp(Link),
    /// A link is gone.
    LinkDown(Link),
    /// A frame of discovery came by a port that cannot have it: forged, repeated, or passed on by a
    /// host.
    LinkRefused(PortRef),
    /// An address was seen for the first time, or has moved.
    HostAt(IpAddr, PortRef),
    /// A port claimed an address that another one holds.
    HostRefused(IpAddr, PortRef),
    /// A port sent too much to the controller.
    PortBlocked(PortRef),
    /// A connection begins.
    Opened {
        /// The connection's number.
        connection: u64,
    },
    /// The first subflow of a connection of MPTCP goes on as TCP: its SYN loses MP_CAPABLE.
    FallsBack {
        /// The connection's number.
        connection: u64,
        /// The subflow.
        flow: Flow,
    },
    /// A subflow has a path.
    Placed {
        /// The connection's number.
        connection: u64,
        /// The subflow.
        flow: Flow,
        /// Links of the path.
        path: Vec<Link>,
    },
    /// A subflow was refused by the policy.
    Refused {
        /// The connection's number.
        connection: u64,
        /// The subflow.
        flow: Flow,
    },
    /// A subflow waits until its connection, whose size is not known, has carried more.
    Waits {
        /// The connection's number.
        connection: u64,
        /// The subflow.
        flow: Flow,
    },
    /// A switch did not take the rules of a subflow.
    NotInstalled {
        /// The connection's number.
        connection: u64,
        /// The subflow.
        flow: Flow,
    },
    /// A subflow has another path.
    Moved {
        /// The connection's number.
        connection: u64,
        /// The subflow.
        flow: Flow,
        /// Links of the path.
        path: Vec<Link>,
    },
    /// The last rules of a connection are gone.
    Closed {
        /// The connection's number.
        connection: u64,
        /// Bytes of data of the direction that had more, as far as switches have told.
        bytes: u64,
    },
}

/// The last events, with their times and numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    /// The number of the next event.
    next: u64,
    kept: VecDeque<(u64, Event)>,
}

impl Events {
    pub(crate) fn add(&mut self, now_ns: u64, event: Event) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((now_ns, event));
        self.next += 1;
    }

    /// Events from a number on that are still kept: number, time, event.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = (u64, u64, &Event)> {
        let first = self.next - self.kept.len() as u64;
        let skipped = number.saturating_sub(first);
        self.kept
            .iter()
            .enumerate()
            .skip(usize::try_from(skipped).unwrap_or(usize::MAX))
            .map(move |(index, (at_ns, event))| (first + index as u64, *at_ns, event))
    }
}
