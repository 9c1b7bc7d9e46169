//! Pending flows get their connections.

use super::classify::{Attachment, joined_token, named_token};
use super::pending::PendingFlow;
use super::registry::{Incoming, Registry};
use super::table::FlowKey;
use crate::{Event, Nanos};

impl Registry {
    /// Holds back a segment, unless it identifies the connection of its flow.
    pub(super) fn hold_back(&mut self, index: u32, incoming: &Incoming, events: &mut Vec<Event>) {
        let Incoming {
            segment,
            from_low,
            duplicate,
            ..
        } = *incoming;
        let Some((pending, has_room)) = self.pending.push(index, segment, from_low, duplicate)
        else {
            return;
        };
        let numbers = pending.numbers;
        let attachment = named_token(segment)
            .and_then(|token| self.match_token(token, segment, from_low))
            .or_else(|| self.match_numbers(&numbers, segment, from_low));
        if let Some(attachment) = attachment {
            self.resolve(index, attachment, events);
        } else if !has_room || (self.pending.token(index).is_none() && numbers.are_sufficient()) {
            self.resolve_alone(index, events);
        }
    }

    /// Resolves the flows that have expired.
    #[cold]
    pub(super) fn resolve_expired(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some(index) = self.pending.expired(now) {
            self.resolve_alone(index, events);
            self.resolve_ready(events);
        }
    }

    /// Resolves the flows whose token has got an owner.
    pub(super) fn resolve_ready(&mut self, events: &mut Vec<Event>) {
        while let Some(index) = self.ready.pop_front() {
            let found = self.pending.segments(index).find_map(|segment| {
                let token = named_token(segment)?;
                let (_, from_low) = FlowKey::of(&segment.source, &segment.destination);
                self.match_token(token, segment, from_low)
            });
            if let Some(attachment) = found {
                self.resolve(index, attachment, events);
            }
        }
    }

    /// Resolves a flow without token or numbers of a known connection.
    pub(super) fn resolve_alone(&mut self, index: u32, events: &mut Vec<Event>) {
        let Some(pending) = self.pending.remove_flow(index) else {
            return;
        };
        if let Some((first, _)) = pending.segments.first() {
            let (_, from_low) = FlowKey::of(&first.source, &first.destination);
            // Other pending flows may have become known.
            match self.match_numbers(&pending.numbers, first, from_low) {
                Some(attachment) => self.attach(index, attachment),
                None => self.attach_alone(index, first, from_low),
            }
        }
        self.release(index, pending, events);
    }

    fn resolve(&mut self, index: u32, attachment: Attachment, events: &mut Vec<Event>) {
        if let Some(pending) = self.pending.remove_flow(index) {
            self.attach(index, attachment);
            let mut segments = pending.segments.iter();
            if let Some(token) = segments.find_map(|(segment, _)| joined_token(segment)) {
                self.claim(index, token);
            }
            self.release(index, pending, events);
        }
    }

    /// Takes the segments of a flow that was pending.
    fn release(&mut self, index: u32, pending: PendingFlow, events: &mut Vec<Event>) {
        for (segment, duplicate) in pending.segments {
            let (_, from_low) = FlowKey::of(&segment.source, &segment.destination);
            let placed = self.take(index, from_low, &segment, duplicate, events);
            self.released.push_back((segment, placed));
        }
    }
}
