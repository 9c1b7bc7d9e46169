//! Flows that were held back find their connections.

use super::arrive::{Arrival, joined_token, named_token};
use super::held::Waiting;
use super::registry::{Incoming, Registry};
use super::table::FlowKey;
use crate::{Event, Nanos};

impl Registry {
    /// Holds back a segment, unless it says whose the flow is.
    pub(super) fn wait(&mut self, index: u32, incoming: &Incoming, events: &mut Vec<Event>) {
        let Incoming {
            segment,
            from_low,
            duplicate,
            ..
        } = *incoming;
        let Some((waiting, has_room)) = self.held.push(index, segment, from_low, duplicate) else {
            return;
        };
        let numbers = waiting.numbers;
        let arrival = named_token(segment)
            .and_then(|token| self.by_token(token, segment, from_low))
            .or_else(|| self.by_numbers(&numbers, segment, from_low));
        if let Some(arrival) = arrival {
            self.settle(index, arrival, events);
        } else if !has_room || (self.held.token(index).is_none() && numbers.are_enough()) {
            self.settle_alone(index, events);
        }
    }

    /// Flows that waited long enough.
    #[cold]
    pub(super) fn give_up_expired(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some(index) = self.held.expired(now) {
            self.settle_alone(index, events);
            self.settle_ready(events);
        }
    }

    /// Flows that name a token which has got an owner.
    pub(super) fn settle_ready(&mut self, events: &mut Vec<Event>) {
        while let Some(index) = self.ready.pop() {
            let syn = self.held.segments(index).find_map(|segment| {
                let token = named_token(segment)?;
                let (_, from_low) = FlowKey::of(&segment.source, &segment.destination);
                self.by_token(token, segment, from_low)
            });
            if let Some(arrival) = syn {
                self.settle(index, arrival, events);
            }
        }
    }

    /// Nothing tells whose the flow is.
    pub(super) fn settle_alone(&mut self, index: u32, events: &mut Vec<Event>) {
        let Some(waiting) = self.held.end(index) else {
            return;
        };
        if let Some((first, _)) = waiting.segments.first() {
            let (_, from_low) = FlowKey::of(&first.source, &first.destination);
            // Other flows that waited may have become known.
            match self.by_numbers(&waiting.numbers, first, from_low) {
                Some(arrival) => self.attach(index, arrival),
                None => self.attach_alone(index, first, from_low),
            }
        }
        self.release(index, waiting, events);
    }

    fn settle(&mut self, index: u32, arrival: Arrival, events: &mut Vec<Event>) {
        if let Some(waiting) = self.held.end(index) {
            self.attach(index, arrival);
            let mut segments = waiting.segments.iter();
            if let Some(token) = segments.find_map(|(segment, _)| joined_token(segment)) {
                self.claim(index, token);
            }
            self.release(index, waiting, events);
        }
    }

    /// Takes the segments of a flow that waited.
    fn release(&mut self, index: u32, waiting: Waiting, events: &mut Vec<Event>) {
        for (segment, duplicate) in waiting.segments {
            let (_, from_low) = FlowKey::of(&segment.source, &segment.destination);
            let placed = self.take(index, from_low, &segment, duplicate, events);
            self.released.push_back((segment, placed));
        }
    }
}
