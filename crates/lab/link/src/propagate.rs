//! Propagation: packets on their way, in order but for those held back.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::Nanos;
use crate::config::Jitter;
use crate::fifo::pop;
use crate::packet::Packet;
use crate::random::{LARGEST_NORMAL, Random};

/// A packet and the time at which it arrives.
#[derive(Clone, Debug)]
pub(crate) struct Arrival<T> {
    pub(crate) at: Nanos,
    pub(crate) packet: Packet<T>,
}

impl<T> Arrival<T> {
    /// Key by which deliveries are ordered.
    pub(crate) fn key(&self) -> (Nanos, u64) {
        (self.at, self.packet.rank)
    }
}

/// The packets on their way through one direction.
#[derive(Clone, Debug)]
pub(crate) struct Propagation<T> {
    pub(crate) delay_ns: Nanos,
    pub(crate) jitter: Jitter,
    random: Random,
    /// When the latest packet arrives or would have arrived, had it not been held back.
    latest: Nanos,
    /// When the next packet arrives: asked for far more often than packets come, and their memory
    /// is seldom in the cache.
    earliest: Option<Nanos>,
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
            earliest: None,
            in_order: VecDeque::new(),
            held: VecDeque::new(),
        }
    }

    /// The delay of the next packet.
    #[inline]
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
    #[inline]
    pub(crate) fn send(&mut self, arrives: Nanos, hold: Option<Nanos>, packet: Packet<T>) {
        self.latest = self.latest.max(arrives);
        let at = self.latest.saturating_add(hold.unwrap_or(0));
        let arrival = Arrival { at, packet };
        match hold {
            None => self.in_order.push_back(arrival),
            Some(_) => {
                let index = self
                    .held
                    .partition_point(|other| other.key() <= arrival.key());
                self.held.insert(index, arrival);
            }
        }
        self.earliest = Some(self.earliest.map_or(at, |earliest| earliest.min(at)));
    }

    /// No packet that departs at this time or later arrives before what this returns.
    #[inline]
    pub(crate) fn earliest_arrival(&self, departed: Nanos) -> Nanos {
        let largest_deviation = match self.jitter {
            Jitter::None => 0,
            Jitter::Uniform { range_ns } => range_ns,
            Jitter::Normal { sd_ns } => libm::ceil(sd_ns as f64 * LARGEST_NORMAL) as Nanos,
        };
        let shortest = self.delay_ns.saturating_sub(largest_deviation);
        self.latest.max(departed.saturating_add(shortest))
    }

    /// The key of the packet that arrives next.
    #[inline]
    pub(crate) fn next_key(&self) -> Option<(Nanos, u64)> {
        match self.next_is_held() {
            true => self.held.front(),
            false => self.in_order.front(),
        }
        .map(Arrival::key)
    }

    /// The packets on their way, first those that arrive first.
    pub(crate) fn arrivals(&self) -> impl Iterator<Item = &Arrival<T>> {
        let mut all: Vec<_> = self.in_order.iter().chain(&self.held).collect();
        all.sort_by_key(|arrival| arrival.key());
        all.into_iter()
    }

    /// Takes the packet that arrives next.
    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<Arrival<T>> {
        let next = match self.next_is_held() {
            true => pop(&mut self.held),
            false => pop(&mut self.in_order),
        };
        self.earliest = self.next_key().map(|(at, _)| at);
        next
    }

    /// When the next packet arrives.
    #[inline]
    pub(crate) fn earliest(&self) -> Option<Nanos> {
        self.earliest
    }

    /// Whether a packet arrives by `now`.
    #[inline]
    pub(crate) fn has_due(&self, now: Nanos) -> bool {
        self.earliest.is_some_and(|earliest| earliest <= now)
    }

    #[inline]
    fn next_is_held(&self) -> bool {
        let Some(held) = self.held.front() else {
            return false;
        };
        let first = self.in_order.front();
        first.is_none_or(|first| held.key() < first.key())
    }

    /// Whether a packet is on its way that is not held back: none that departs later arrives
    /// before it.
    #[inline]
    pub(crate) fn has_next_in_order(&self) -> bool {
        !self.in_order.is_empty()
    }

    /// Packets on their way.
    pub(crate) fn len(&self) -> usize {
        self.in_order.len() + self.held.len()
    }
}
