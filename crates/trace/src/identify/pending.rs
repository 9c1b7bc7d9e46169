//! Pending flows: their segments are held back until their connection is known.
//!
//! A MP_JOIN with a token of no known key may have been captured before that key (in files of
//! different clocks), or its connection may have begun before the capture: then the first data
//! sequence numbers of the subflow identify it. The same holds for a flow that was under way when
//! the capture began and whose first packets have options without such numbers, or one number of 4
//! bytes. Segments keep their order.

use std::collections::{BTreeMap, BTreeSet};

use super::classify::named_token;
use super::dsn_match::SeenDsns;
use crate::{Nanos, Segment};

/// Longest time for which a flow is pending, by the clock of the capture.
pub(super) const WAIT: Nanos = 4_000_000_000;
/// Most pending segments of one flow.
pub(super) const SEGMENTS_A_FLOW: usize = 32;
/// Most pending segments in all; a flow beyond that is placed at once, as if its time had run out.
pub(super) const SEGMENTS: usize = 1024;

/// A pending flow.
#[derive(Debug)]
pub(super) struct PendingFlow {
    /// Its segments, each with whether it is a duplicate.
    pub(super) segments: Vec<(Segment, bool)>,
    /// Token in its MP_JOIN or MP_FASTCLOSE.
    pub(super) token: Option<u32>,
    pub(super) numbers: SeenDsns,
    expires_at: Nanos,
}

/// All pending flows, by index.
#[derive(Debug)]
pub(super) struct Pending {
    flows: BTreeMap<u32, PendingFlow>,
    by_time: BTreeSet<(Nanos, u32)>,
    by_token: BTreeSet<(u32, u32)>,
    segments: usize,
    next_expiry: Nanos,
}

impl Pending {
    pub(super) fn new() -> Self {
        Self {
            flows: BTreeMap::new(),
            by_time: BTreeSet::new(),
            by_token: BTreeSet::new(),
            segments: 0,
            next_expiry: Nanos::MAX,
        }
    }

    /// Returns whether another segment may be held back.
    pub(super) fn has_room(&self) -> bool {
        self.segments < SEGMENTS
    }

    /// Returns the number of segments.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.segments
    }

    /// Returns the time at which the first flow expires.
    #[inline]
    pub(super) fn next_expiry(&self) -> Nanos {
        self.next_expiry
    }

    /// Returns a flow that has expired at `now`.
    pub(super) fn expired(&self, now: Nanos) -> Option<u32> {
        let &(expires_at, flow) = self.by_time.first()?;
        (expires_at <= now).then_some(flow)
    }

    /// Returns the flow that has been pending for longest.
    pub(super) fn first(&self) -> Option<u32> {
        self.by_time.first().map(|&(_, flow)| flow)
    }

    /// Iterates over the flows with this token.
    pub(super) fn with_token(&self, token: u32) -> impl Iterator<Item = u32> {
        self.by_token
            .range((token, 0)..=(token, u32::MAX))
            .map(|&(_, flow)| flow)
    }

    /// Returns the token of a pending flow.
    pub(super) fn token(&self, flow: u32) -> Option<u32> {
        self.flows.get(&flow)?.token
    }

    /// Iterates over the segments of a pending flow.
    pub(super) fn segments(&self, flow: u32) -> impl Iterator<Item = &Segment> {
        let pending = self.flows.get(&flow).into_iter();
        pending.flat_map(|pending| pending.segments.iter().map(|(segment, _)| segment))
    }

    /// Adds a flow without segments.
    pub(super) fn add_flow(&mut self, flow: u32, now: Nanos) {
        let expires_at = now.saturating_add(WAIT);
        let pending = PendingFlow {
            segments: Vec::new(),
            token: None,
            numbers: SeenDsns::default(),
            expires_at,
        };
        self.flows.insert(flow, pending);
        self.by_time.insert((expires_at, flow));
        self.update_next_expiry();
    }

    /// Adds a segment of a pending flow. Returns the flow, and whether there is room for another.
    pub(super) fn push(
        &mut self,
        flow: u32,
        segment: &Segment,
        from_low: bool,
        duplicate: bool,
    ) -> Option<(&PendingFlow, bool)> {
        let pending = self.flows.get_mut(&flow)?;
        pending.numbers.take(segment, from_low);
        if pending.token.is_none() {
            pending.token = named_token(segment);
            self.by_token
                .extend(pending.token.map(|token| (token, flow)));
        }
        pending.segments.push((segment.clone(), duplicate));
        self.segments += 1;
        let has_room = self.segments < SEGMENTS && pending.segments.len() < SEGMENTS_A_FLOW;
        Some((pending, has_room))
    }

    /// Removes a flow.
    pub(super) fn remove_flow(&mut self, flow: u32) -> Option<PendingFlow> {
        let pending = self.flows.remove(&flow)?;
        self.by_time.remove(&(pending.expires_at, flow));
        if let Some(token) = pending.token {
            self.by_token.remove(&(token, flow));
        }
        self.segments -= pending.segments.len();
        self.update_next_expiry();
        Some(pending)
    }

    fn update_next_expiry(&mut self) {
        self.next_expiry = self
            .by_time
            .first()
            .map_or(Nanos::MAX, |&(expires_at, _)| expires_at);
    }
}
