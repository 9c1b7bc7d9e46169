//! Flows that are held back until it is known whose they are.
//!
//! A MP_JOIN with a token that no known key gave may have been captured before that key (files
//! whose clocks differ), or its connection may have begun before the capture: then the first data
//! sequence numbers of the subflow tell. So they do of a flow that was under way when the capture
//! began and whose first packets have options without such numbers, or one number of 4 bytes. The
//! segments wait, in their order.

use std::collections::{BTreeMap, BTreeSet};

use super::arrive::named_token;
use super::evidence::Numbers;
use crate::{Nanos, Segment};

/// How long a flow waits, by the time of the capture.
pub(super) const WAIT: Nanos = 4_000_000_000;
/// Segments of one flow that wait.
pub(super) const SEGMENTS_A_FLOW: usize = 32;
/// Segments that wait in all; what would be held back beyond them is placed at once, as if its
/// time had run out.
pub(super) const SEGMENTS: usize = 1024;

/// A flow that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Its segments, and whether they were captured twice.
    pub(super) segments: Vec<(Segment, bool)>,
    /// Token that it names.
    pub(super) token: Option<u32>,
    pub(super) numbers: Numbers,
    until: Nanos,
}

/// All of them, by the index of their flow.
#[derive(Debug)]
pub(super) struct Held {
    flows: BTreeMap<u32, Waiting>,
    by_time: BTreeSet<(Nanos, u32)>,
    by_token: BTreeSet<(u32, u32)>,
    segments: usize,
    next: Nanos,
}

impl Held {
    pub(super) fn new() -> Self {
        Self {
            flows: BTreeMap::new(),
            by_time: BTreeSet::new(),
            by_token: BTreeSet::new(),
            segments: 0,
            next: Nanos::MAX,
        }
    }

    /// Whether another segment may be held back.
    pub(super) fn has_room(&self) -> bool {
        self.segments < SEGMENTS
    }

    /// Segments that are held back.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.segments
    }

    /// When the first flow has waited long enough.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.next
    }

    /// A flow that has waited until `now`.
    pub(super) fn expired(&self, now: Nanos) -> Option<u32> {
        let &(until, flow) = self.by_time.first()?;
        (until <= now).then_some(flow)
    }

    /// Any flow that waits, those that wait longest first.
    pub(super) fn first(&self) -> Option<u32> {
        self.by_time.first().map(|&(_, flow)| flow)
    }

    /// The flows that name this token.
    pub(super) fn with_token(&self, token: u32) -> impl Iterator<Item = u32> {
        self.by_token
            .range((token, 0)..=(token, u32::MAX))
            .map(|&(_, flow)| flow)
    }

    /// Token that a flow names which waits.
    pub(super) fn token(&self, flow: u32) -> Option<u32> {
        self.flows.get(&flow)?.token
    }

    /// Segments of a flow that waits.
    pub(super) fn segments(&self, flow: u32) -> impl Iterator<Item = &Segment> {
        let waiting = self.flows.get(&flow).into_iter();
        waiting.flat_map(|waiting| waiting.segments.iter().map(|(segment, _)| segment))
    }

    /// Lets a flow wait.
    pub(super) fn begin(&mut self, flow: u32, now: Nanos) {
        let until = now.saturating_add(WAIT);
        let waiting = Waiting {
            segments: Vec::new(),
            token: None,
            numbers: Numbers::default(),
            until,
        };
        self.flows.insert(flow, waiting);
        self.by_time.insert((until, flow));
        self.time_first();
    }

    /// Holds back a segment of a flow that waits. With it comes whether there is room for another.
    pub(super) fn push(
        &mut self,
        flow: u32,
        segment: &Segment,
        from_low: bool,
        duplicate: bool,
    ) -> Option<(&Waiting, bool)> {
        let waiting = self.flows.get_mut(&flow)?;
        waiting.numbers.take(segment, from_low);
        if waiting.token.is_none() {
            waiting.token = named_token(segment);
            self.by_token
                .extend(waiting.token.map(|token| (token, flow)));
        }
        waiting.segments.push((segment.clone(), duplicate));
        self.segments += 1;
        let has_room = self.segments < SEGMENTS && waiting.segments.len() < SEGMENTS_A_FLOW;
        Some((waiting, has_room))
    }

    /// The flow waits no longer.
    pub(super) fn end(&mut self, flow: u32) -> Option<Waiting> {
        let waiting = self.flows.remove(&flow)?;
        self.by_time.remove(&(waiting.until, flow));
        if let Some(token) = waiting.token {
            self.by_token.remove(&(token, flow));
        }
        self.segments -= waiting.segments.len();
        self.time_first();
        Some(waiting)
    }

    fn time_first(&mut self) {
        self.next = self.by_time.first().map_or(Nanos::MAX, |&(until, _)| until);
    }
}
