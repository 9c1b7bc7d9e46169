//! The register of flows, and the way of a packet through it.

use std::collections::VecDeque;

use super::connection::Connection;
use super::evidence::Evidence;
use super::flow::{Flow, PENDING};
use super::held::Held;
use super::news::News;
use super::subflow::{Phase, Subflow};
use super::table::{FlowKey, Secrets, Table};
use super::tokens::Tokens;
use super::twins::Twins;
use crate::{Event, Place, Segment, Side};

/// Where a segment belongs, and whether it was there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Where it belongs.
    pub place: Place,
    /// The same packet was captured on another interface before.
    pub duplicate: bool,
}

/// The connections of a capture: whose is a segment?
///
/// A packet of a known flow is looked up once by its addresses and ports. What identifies
/// connections is read from the packets that say it: handshakes, signals of addresses, the ends.
#[derive(Debug)]
pub struct Registry {
    pub(super) flows: Vec<Flow>,
    pub(super) subflows: Vec<Subflow>,
    pub(super) connections: Vec<Connection>,
    pub(super) table: Table,
    pub(super) secrets: Secrets,
    pub(super) tokens: Tokens,
    pub(super) evidence: Evidence,
    pub(super) held: Held,
    /// Flows held back whose connection has become known.
    pub(super) ready: Vec<u32>,
    pub(super) released: VecDeque<(Segment, Placed)>,
    pub(super) news: VecDeque<(u32, News)>,
    twins: Twins,
}

/// A packet, and where it belongs.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    /// Index of flow and subflow.
    pub(super) index: u32,
    pub(super) connection: u32,
    pub(super) from: Side,
    pub(super) segment: &'a Segment,
}

/// A packet, and the flow that its addresses and ports name.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) key: FlowKey,
    pub(super) hash: u64,
    pub(super) from_low: bool,
    pub(super) segment: &'a Segment,
    pub(super) duplicate: bool,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Without any connection.
    pub fn new() -> Self {
        let secrets = Secrets::new();
        Self {
            flows: Vec::new(),
            subflows: Vec::new(),
            connections: Vec::new(),
            table: Table::new(secrets),
            secrets,
            tokens: Tokens::default(),
            evidence: Evidence::default(),
            held: Held::new(),
            ready: Vec::new(),
            released: VecDeque::new(),
            news: VecDeque::new(),
            twins: Twins::new(secrets),
        }
    }

    /// Several interfaces or files will come. Without being told, the registry notices the second
    /// interface when it sees it, and if that is after thousands of packets of the first one it
    /// does not know those again.
    pub fn expect_interfaces(&mut self) {
        self.twins.expect();
    }

    /// Whose the segment is, and what it tells of its connection. `None`: it is held back until
    /// that is known; then it comes from [`released`](Self::released).
    #[inline]
    pub fn place(&mut self, segment: &Segment, events: &mut Vec<Event>) -> Option<Placed> {
        if segment.at >= self.held.next() {
            self.give_up_expired(segment.at, events);
        }
        let (key, from_low) = FlowKey::of(&segment.source, &segment.destination);
        let hash = self.secrets.hash(&key);
        let duplicate =
            !self.twins.are_off(segment.interface) && self.twins.seen(hash, from_low, segment);
        let found = self.table.find(hash, &key, &self.flows);
        if let Some(index) = found
            && !duplicate
        {
            let flow = &mut self.flows[index as usize];
            let from = flow.side(from_low);
            if flow.take_usual(from, segment) {
                return Some(Placed {
                    place: flow.place(from),
                    duplicate: false,
                });
            }
        }
        let incoming = Incoming {
            key,
            hash,
            from_low,
            segment,
            duplicate,
        };
        self.place_unusual(incoming, found, events)
    }

    /// The next of the segments that were held back and have a place now, in the order of each
    /// subflow. To be asked after each [`place`](Self::place), until there is none.
    #[inline]
    pub fn released(&mut self) -> Option<(Segment, Placed)> {
        self.released.pop_front()
    }

    /// The captures have ended: what is held back gets its place as far as can be known.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        while let Some(index) = self.held.first() {
            self.settle_alone(index, events);
            self.settle_ready(events);
        }
    }

    /// A packet that opens a flow, or may say something.
    #[inline(never)]
    fn place_unusual(
        &mut self,
        incoming: Incoming,
        found: Option<u32>,
        events: &mut Vec<Event>,
    ) -> Option<Placed> {
        let index = match found {
            Some(index) if incoming.duplicate || !self.begins_anew(index, &incoming) => index,
            _ => self.arrive(&incoming),
        };
        let Incoming {
            from_low,
            segment,
            duplicate,
            ..
        } = incoming;
        let placed = if self.flows[index as usize].connection == PENDING {
            self.wait(index, &incoming, events);
            None
        } else {
            Some(self.take(index, from_low, segment, duplicate, events))
        };
        self.settle_ready(events);
        placed
    }

    /// Takes a segment of a flow whose connection is known.
    pub(super) fn take(
        &mut self,
        index: u32,
        from_low: bool,
        segment: &Segment,
        duplicate: bool,
        events: &mut Vec<Event>,
    ) -> Placed {
        let flow = &self.flows[index as usize];
        let from = flow.side(from_low);
        let place = flow.place(from);
        let seen = Seen {
            index,
            connection: flow.connection,
            from,
            segment,
        };
        if duplicate {
            self.take_duplicate(seen, events);
        } else {
            self.take_unusual(seen, events);
        }
        Placed { place, duplicate }
    }

    fn take_unusual(&mut self, seen: Seen, events: &mut Vec<Event>) {
        if self.subflow(seen).phase == Phase::Start {
            self.tell_opened(seen, events);
        }
        self.take_handshake(seen, events);
        for option in &seen.segment.options.mptcp {
            self.take_option(seen, option, events);
        }
        self.take_first_data(seen, events);
        if seen.segment.flags.rst {
            self.take_reset(seen, events);
        }
        self.flows[seen.index as usize].sent(seen.from, seen.segment);
    }

    pub(super) fn subflow(&mut self, seen: Seen) -> &mut Subflow {
        &mut self.subflows[seen.index as usize]
    }

    pub(super) fn connection(&mut self, seen: Seen) -> &mut Connection {
        &mut self.connections[seen.connection as usize]
    }

    /// Adds an event that a packet tells.
    pub(super) fn tell(
        &self,
        seen: Seen,
        kind: &'static str,
        text: String,
        events: &mut Vec<Event>,
    ) {
        events.push(Event {
            at: seen.segment.at,
            frame: seen.segment.frame,
            connection: seen.connection,
            subflow: Some(self.flows[seen.index as usize].number),
            from: Some(seen.from),
            kind,
            text,
        });
    }
}
