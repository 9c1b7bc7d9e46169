//! Flows that were held back find their connections.

use super::arrive::{Arrival, joined_token};
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
        let arrival = match joined_token(segment) {
            Some(token) => self.by_token(token, segment, from_low),
            None if numbers.is_empty() => None,
            None => self.by_numbers(&numbers, segment, from_low),
        };
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

    /// Flows whose token has got an owner.
    pub(super) fn settle_ready(&mut self, events: &mut Vec<Event>) {
        while let Some(index) = self.ready.pop() {
            let syn = self.held.segments(index).find_map(|segment| {
                let token = joined_token(segment)?;
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
        if let Some(waiting) = self.held.end(index) {
            if let Some((first, _)) = waiting.segments.first() {
                let (_, from_low) = FlowKey::of(&first.source, &first.destination);
                self.attach_alone(index, first, from_low);
            }
            self.release(index, waiting, events);
        }
    }

    fn settle(&mut self, index: u32, arrival: Arrival, events: &mut Vec<Event>) {
        if let Some(waiting) = self.held.end(index) {
            self.attach(index, arrival);
            if let Some(token) = waiting.token {
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
