//! Propagation: packets on their way, in order but for those held back.

use alloc::collections::VecDeque;

use crate::Nanos;
use crate::config::Jitter;
use crate::packet::Packet;
use crate::random::{LARGEST_NORMAL, Random};

/// A packet and the time at which it arrives.
#[derive(Debug)]
pub(crate) struct Arrival<T> {
    pub(crate) at: Nanos,
    pub(crate) packet: Packet<T>,
}

impl<T> Arrival<T> {
    /// What deliveries are ordered by.
    pub(crate) fn key(&self) -> (Nanos, u64) {
        (self.at, self.packet.rank)
    }
}

/// The packets on their way through one direction.
#[derive(Debug)]
pub(crate) struct Propagation<T> {
    pub(crate) delay_ns: Nanos,
    pub(crate) jitter: Jitter,
    random: Random,
    /// When the latest packet arrives or would have arrived, had it not been held back.
    latest: Nanos,
    in_order: VecDeque<Arrival<T>>,
    /// Packets held back, sorted. Nearly all are appended: only a shorter hold than before inserts.
    held: VecDeque<Arrival<T>>,
}

impl<T> Propagation<T> {
    pub(crate) fn new(delay_ns: Nanos, jitter: Jitter, random: Random) -> Self {
        Self {
            delay_ns,
            jitter,
            random,
            latest: 0,
            in_order: VecDeque::new(),
            held: VecDeque::new(),
        }
    }

    /// The delay of the next packet.
    pub(crate) fn draw_delay(&mut self) -> Nanos {
        match self.jitter {
            Jitter::None => self.delay_ns,
            Jitter::Uniform { range_ns } => {
                let above_lowest = self.random.up_to(range_ns.saturating_mul(2));
                self.delay_ns
                    .saturating_add(above_lowest)
                    .saturating_sub(range_ns)
            }
            Jitter::Normal { sd_ns } => {
                let deviation = libm::round(self.random.normal() * sd_ns as f64) as i64;
                self.delay_ns.saturating_add_signed(deviation)
            }
        }
    }

    /// Sends a packet that arrives at a time, or with its predecessor if that is later, or later by
    /// `hold` where it is held back.
    pub(crate) fn send(&mut self, arrives: Nanos, hold: Option<Nanos>, packet: Packet<T>) {
        self.latest = self.latest.max(arrives);
        match hold {
            None => self.in_order.push_back(Arrival {
                at: self.latest,
                packet,
            }),
            Some(extra) => {
                let arrival = Arrival {
                    at: self.latest.saturating_add(extra),
                    packet,
                };
                let index = self
                    .held
                    .partition_point(|other| other.key() <= arrival.key());
                self.held.insert(index, arrival);
            }
        }
    }

    /// No packet that departs at this time or later arrives before what this returns.
    pub(crate) fn earliest_arrival(&self, departed: Nanos) -> Nanos {
        let largest_deviation = match self.jitter {
            Jitter::None => 0,
            Jitter::Uniform { range_ns } => range_ns,
            Jitter::Normal { sd_ns } => libm::ceil(sd_ns as f64 * LARGEST_NORMAL) as Nanos,
        };
        let shortest = self.delay_ns.saturating_sub(largest_deviation);
        self.latest.max(departed.saturating_add(shortest))
    }

    /// The packet that arrives next.
    pub(crate) fn next(&self) -> Option<&Arrival<T>> {
        if self.next_is_held() {
            self.held.front()
        } else {
            self.in_order.front()
        }
    }

    /// Takes the packet that arrives next.
    pub(crate) fn take_next(&mut self) -> Option<Arrival<T>> {
        if self.next_is_held() {
            self.held.pop_front()
        } else {
            self.in_order.pop_front()
        }
    }

    fn next_is_held(&self) -> bool {
        match (self.in_order.front(), self.held.front()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(first), Some(held)) => held.key() < first.key(),
        }
    }

    /// Packets on their way.
    pub(crate) fn len(&self) -> usize {
        self.in_order.len() + self.held.len()
    }
}
