//! Packets that wait until something is known.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::place::PortRef;

/// Packets that wait for the same thing.
const EACH: usize = 128;

/// Something that packets wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// Whether a port has a link.
    Port(PortRef),
    /// The port of a host.
    Host(IpAddr),
    /// The connection of a token.
    Token(u32),
    /// More bytes of a connection.
    Bytes(u64),
    /// The answer of a switch to a barrier, with that of the transaction, after its counters.
    Barrier(u64, u32),
}

/// A packet as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// When it came.
    pub(crate) since_ns: u64,
    /// The port by which it came.
    pub(crate) at: PortRef,
    /// The switch's buffer that has it, if one does.
    pub(crate) buffer: Option<u32>,
    /// The frame.
    pub(crate) data: Vec<u8>,
}

/// All packets that wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    by_cause: BTreeMap<Cause, Vec<Received>>,
    count: usize,
}

impl Waiting {
    /// Keeps a packet if there is room, and says whether it is the first that waits for this.
    pub(crate) fn hold(&mut self, cause: Cause, packet: Received, limit: usize) -> bool {
        if self.count >= limit {
            return false;
        }
        let waiting = self.by_cause.entry(cause).or_default();
        if waiting.len() < EACH {
            waiting.push(packet);
            self.count += 1;
        }
        waiting.len() == 1
    }

    /// Whether anything waits for this.
    pub(crate) fn has(&self, cause: Cause) -> bool {
        self.by_cause.contains_key(&cause)
    }

    /// All packets that wait for something.
    pub(crate) fn take(&mut self, cause: Cause) -> Vec<Received> {
        let taken = self.by_cause.remove(&cause).unwrap_or_default();
        self.count -= taken.len();
        taken
    }

    /// Drops the packets that wait for something.
    pub(crate) fn forget(&mut self, cause: Cause) {
        self.take(cause);
    }

    /// Drops packets that wait for something, and says whether there were some.
    pub(crate) fn drop_if(&mut self, cause: Cause, is_wrong: impl Fn(&Received) -> bool) -> bool {
        let Some(waiting) = self.by_cause.get_mut(&cause) else {
            return false;
        };
        let before = waiting.len();
        waiting.retain(|packet| !is_wrong(packet));
        let dropped = before - waiting.len();
        self.count -= dropped;
        if waiting.is_empty() {
            self.by_cause.remove(&cause);
        }
        dropped > 0
    }

    /// Packets from a port that wait for more bytes of their connections.
    pub(crate) fn joins_at(&self, at: PortRef) -> usize {
        let joins = self
            .by_cause
            .range(Cause::Bytes(0)..=Cause::Bytes(u64::MAX));
        let packets = joins.flat_map(|(_, packets)| packets);
        packets.filter(|packet| packet.at == at).count()
    }

    /// Whether fewer packets than so many wait.
    pub(crate) fn has_room(&self, limit: usize) -> bool {
        self.count < limit
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }
}
