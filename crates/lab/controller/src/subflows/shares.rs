//! Connections by the port that opened them: where there are too many, the port with the most loses
//! one, so that no host can make the controller forget those of others.

use std::collections::{BTreeMap, BTreeSet};

use crate::place::PortRef;

/// Classes of connections, in the order in which they are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Its rules are gone.
    Idle,
    /// No answer was seen.
    HalfOpen,
    /// An answer was seen.
    Open,
}

/// Connections of each port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    /// In each class the oldest first, as numbers grow.
    by_port: BTreeMap<PortRef, BTreeSet<(Class, u64)>>,
    /// Ports by how many connections they have.
    by_count: BTreeSet<(usize, PortRef)>,
}

impl Shares {
    pub(crate) fn add(&mut self, port: PortRef, class: Class, connection: u64) {
        self.change(port, |own| {
            own.insert((class, connection));
        });
    }

    pub(crate) fn remove(&mut self, port: PortRef, class: Class, connection: u64) {
        self.change(port, |own| {
            own.remove(&(class, connection));
        });
    }

    /// The connection that is given up first.
    pub(crate) fn first_to_go(&self) -> Option<u64> {
        let (_, port) = self.by_count.last()?;
        let own = self.by_port.get(port)?;
        own.first().map(|(_, connection)| *connection)
    }

    fn change(&mut self, port: PortRef, change: impl FnOnce(&mut BTreeSet<(Class, u64)>)) {
        let own = self.by_port.entry(port).or_default();
        let before = own.len();
        change(own);
        let after = own.len();
        if after == 0 {
            self.by_port.remove(&port);
        }
        if before != after {
            self.by_count.remove(&(before, port));
            if after > 0 {
                self.by_count.insert((after, port));
            }
        }
    }
}
