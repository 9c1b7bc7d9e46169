//! The registry of flows, and the path of a packet through it.

use std::collections::VecDeque;

use super::connection::Connection;
use super::dedup::Dedup;
use super::dsn_match::DsnIndex;
use super::flow::{Flow, PENDING};
use super::identity_events::IdentityEvent;
use super::pending::Pending;
use super::subflow::{Phase, Subflow};
use super::table::{FlowKey, Secrets, Table};
use super::tokens::Tokens;
use crate::{Event, Place, Segment, Side};

/// Place of a segment, and how it counts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Connection, subflow and side.
    pub place: Place,
    /// The same packet was captured on another interface before.
    pub duplicate: bool,
    /// Its receiver accepts it as a segment of the connection (RFC 9293, section 3.10.7), as far as
    /// the capture shows.
    pub acceptable: bool,
}

/// The connections of a capture, and the place of each segment among them.
///
/// A packet of a known flow is looked up once by its addresses and ports. Only few packets identify
/// connections: handshakes, address signals, the last ones.
#[derive(Debug)]
pub struct Registry {
    pub(super) flows: Vec<Flow>,
    pub(super) subflows: Vec<Subflow>,
    pub(super) connections: Vec<Connection>,
    pub(super) table: Table,
    pub(super) secrets: Secrets,
    pub(super) tokens: Tokens,
    pub(super) dsn_index: DsnIndex,
    pub(super) pending: Pending,
    /// Pending flows whose connection has become known.
    pub(super) ready: VecDeque<u32>,
    pub(super) released: VecDeque<(Segment, Placed)>,
    pub(super) identity_events: VecDeque<(u32, IdentityEvent)>,
    dedup: Dedup,
}

/// A packet and its place.
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
    /// Creates a registry without connections.
    pub fn new() -> Self {
        let secrets = Secrets::new();
        Self {
            flows: Vec::new(),
            subflows: Vec::new(),
            connections: Vec::new(),
            table: Table::new(secrets),
            secrets,
            tokens: Tokens::default(),
            dsn_index: DsnIndex::default(),
            pending: Pending::new(),
            ready: VecDeque::new(),
            released: VecDeque::new(),
            identity_events: VecDeque::new(),
            dedup: Dedup::new(secrets),
        }
    }

    /// Announces several interfaces or files. Without this call the registry notices the second
    /// interface at its first packet; after thousands of packets of the first interface their
    /// copies are not recognised then.
    pub fn expect_interfaces(&mut self) {
        self.dedup.expect_interfaces();
    }

    /// Returns the place of the segment, and adds the events that it shows. `None`: the segment is
    /// held back until its connection is known, or follows segments that were held back; it comes
    /// from [`released`](Self::released) then.
    #[inline]
    pub fn place(&mut self, segment: &Segment, events: &mut Vec<Event>) -> Option<Placed> {
        if segment.at >= self.pending.next_expiry() {
            return self.place_after_expired(segment, events);
        }
        self.place_now(segment, events)
    }

    /// Resolves expired flows first: their segments come before this one.
    #[cold]
    #[inline(never)]
    fn place_after_expired(
        &mut self,
        segment: &Segment,
        events: &mut Vec<Event>,
    ) -> Option<Placed> {
        self.resolve_expired(segment.at, events);
        let before = self.released.len();
        let placed = self.place_now(segment, events)?;
        if before == 0 {
            return Some(placed);
        }
        self.released.insert(before, (segment.clone(), placed));
        None
    }

    #[inline]
    fn place_now(&mut self, segment: &Segment, events: &mut Vec<Event>) -> Option<Placed> {
        let (key, from_low) = FlowKey::of(&segment.source, &segment.destination);
        let hash = self.secrets.hash(&key);
        let duplicate = !self.dedup.is_off(segment.interface)
            && self.dedup.is_duplicate(hash, from_low, segment);
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
                    acceptable: true,
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

    /// Returns the next of the segments that were held back and have a place now, in the order of
    /// each subflow. To be called after each [`place`](Self::place), until there is none.
    #[inline]
    pub fn released(&mut self) -> Option<(Segment, Placed)> {
        self.released.pop_front()
    }

    /// Ends the captures: gives all pending segments a place.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        while let Some(index) = self.pending.first() {
            self.resolve_alone(index, events);
            self.resolve_ready(events);
        }
    }

    /// Places a packet that opens a flow, or may show something of identity.
    #[inline(never)]
    fn place_unusual(
        &mut self,
        incoming: Incoming,
        found: Option<u32>,
        events: &mut Vec<Event>,
    ) -> Option<Placed> {
        let index = match found {
            Some(index) if incoming.duplicate || !self.begins_anew(index, &incoming) => index,
            _ => self.classify(&incoming),
        };
        let Incoming {
            from_low,
            segment,
            duplicate,
            ..
        } = incoming;
        let placed = if self.flows[index as usize].connection == PENDING {
            self.hold_back(index, &incoming, events);
            None
        } else {
            Some(self.take(index, from_low, segment, duplicate, events))
        };
        self.resolve_ready(events);
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
        let acceptable = duplicate || self.is_acceptable(seen);
        if duplicate {
            self.take_duplicate(seen, events);
        } else if acceptable {
            self.take_unusual(seen, events);
        } else if segment.flags.rst {
            self.report_refused(seen, events);
        }
        Placed {
            place,
            duplicate,
            acceptable,
        }
    }

    fn take_unusual(&mut self, seen: Seen, events: &mut Vec<Event>) {
        if self.subflow(seen).phase == Phase::Start {
            self.report_opened(seen, events);
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

    /// Adds an event that a packet shows.
    pub(super) fn report(
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
