//! A link: two directions and the serialisers of their packets.

use alloc::vec::Vec;
use core::slice;

use crate::Nanos;
use crate::check::{ConfigError, changed_directions, check_change, check_config};
use crate::config::{Duplex, LinkChange, LinkConfig};
use crate::counters::{Backlog, Counters};
use crate::direction::Direction;
use crate::pace::Pace;
use crate::packet::Packet;
use crate::propagate::Arrival;
use crate::serialise::Channel;

/// A packet that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<T> {
    /// Direction it came through.
    pub direction: usize,
    /// When it is due; not later than the time of the poll.
    pub at: Nanos,
    /// Size of the IP packet, as it was offered.
    pub ip_bytes: u32,
    /// The packet that was offered.
    pub packet: T,
}

/// Reason for which a packet was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A limit of the queue.
    QueueFull,
    /// The direction is down.
    Down,
}

/// One link and the packets on it; `T` is what stands for a packet.
///
/// Calls come in order of time: a time before the latest that the link has seen counts as that. What
/// happens does not depend on how often the link is polled. At equal times, packets that end their
/// serialisation make room before an offer comes.
///
/// Methods that take a direction panic where it is neither 0 nor 1.
#[derive(Clone, Debug)]
pub struct Link<T> {
    /// The latest time seen; everything up to it has happened.
    now: Nanos,
    /// Packets taken so far.
    taken: u64,
    duplex: Duplex,
    pub(crate) directions: [Direction<T>; 2],
    /// The serialisers: one for each direction, or only the first for both.
    pub(crate) channels: [Channel<T>; 2],
}

impl<T: Clone> Link<T> {
    /// A link at time 0 with nothing on it. The same seed and the same calls give the same result,
    /// on any machine.
    ///
    /// # Errors
    /// Refuses what cannot be honoured, by name.
    pub fn new(config: &LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        check_config(config)?;
        let [first, second] = &config.directions;
        Ok(Self {
            now: 0,
            taken: 0,
            duplex: config.duplex,
            directions: [
                Direction::new(0, config.duplex, first, seed),
                Direction::new(1, config.duplex, second, seed),
            ],
            channels: [Channel::new(), Channel::new()],
        })
    }

    /// Takes a packet of `ip_bytes` into a direction.
    ///
    /// # Errors
    /// Says why the packet was not taken. What the queue discipline drops and what is lost later is
    /// only counted.
    pub fn offer(
        &mut self,
        direction: usize,
        now: Nanos,
        ip_bytes: u32,
        packet: T,
    ) -> Result<(), Dropped> {
        self.advance(now);
        let (channel, _) = self.channel_of(direction);
        let (channel, of) = (&self.channels[channel], &self.directions[direction]);
        let waits = !channel.is_idle() || of.queue.len() > 0;
        let is_full = waits && !of.queue.has_room(ip_bytes) && !channel.lets_through(now, of);
        let Direction {
            up,
            queue,
            counters,
            ..
        } = &mut self.directions[direction];
        counters.offered_packets += 1;
        counters.offered_bytes += u64::from(ip_bytes);
        if !*up {
            counters.dropped_down += 1;
            return Err(Dropped::Down);
        }
        if is_full {
            counters.dropped_queue += 1;
            return Err(Dropped::QueueFull);
        }
        queue.push(
            self.now,
            Packet {
                rank: self.taken,
                ip_bytes,
                payload: packet,
            },
        );
        self.taken += 1;
        if !waits {
            self.advance(now);
        }
        Ok(())
    }

    /// Appends what is due by `now` to `due`, ordered by time, then by order of the offers.
    pub fn poll(&mut self, now: Nanos, due: &mut Vec<Delivery<T>>) {
        self.poll_each(now, |delivery| due.push(delivery));
    }

    /// Hands over what is due by `now`, ordered by time, then by order of the offers.
    pub fn poll_each(&mut self, now: Nanos, mut due: impl FnMut(Delivery<T>)) {
        self.advance(now);
        while let Some(delivery) = self.take_due() {
            due(delivery);
        }
    }

    /// Takes the first packet that is due by `now`, and leaves the others.
    pub fn poll_one(&mut self, now: Nanos) -> Option<Delivery<T>> {
        self.advance(now);
        self.take_due()
    }

    /// Takes the packet that arrives next, if it has arrived.
    #[inline]
    fn take_due(&mut self) -> Option<Delivery<T>> {
        let index = self.next_due()?;
        let Direction {
            propagation,
            counters,
            ..
        } = &mut self.directions[index];
        let Arrival { at, packet } = propagation.take_next()?;
        counters.delivered_packets += 1;
        counters.delivered_bytes += u64::from(packet.ip_bytes);
        Some(Delivery {
            direction: index,
            at,
            ip_bytes: packet.ip_bytes,
            packet: packet.payload,
        })
    }

    /// The direction of the packet that arrives next, if it has arrived.
    #[inline]
    fn next_due(&self) -> Option<usize> {
        let first = &self.directions[0].propagation;
        let second = &self.directions[1].propagation;
        match (first.has_due(self.now), second.has_due(self.now)) {
            (false, false) => None,
            (true, false) => Some(0),
            (false, true) => Some(1),
            (true, true) => Some(usize::from(second.next_key() < first.next_key())),
        }
    }

    /// No delivery is due before this time as long as nothing is offered or changed; `None` where
    /// nothing is on the link. A driver that polls then is never late. It may find nothing due, as
    /// where the packet is lost, and asks again.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Nanos> {
        match (self.next_deadline_of(0), self.next_deadline_of(1)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The same for one direction.
    #[inline]
    fn next_deadline_of(&self, index: usize) -> Option<Nanos> {
        let direction = &self.directions[index];
        let under_way = direction.propagation.earliest();
        if direction.propagation.has_next_in_order() {
            // Packets that have not departed yet arrive after it.
            return under_way;
        }
        let (channel, place) = self.channel_of(index);
        let to_depart = self.channels[channel].earliest_arrival(place, direction);
        match (under_way, to_depart) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Changes parameters from `now` on.
    ///
    /// # Errors
    /// Refuses what cannot be honoured, by name, and then changes nothing.
    pub fn change(&mut self, now: Nanos, change: &LinkChange) -> Result<(), ConfigError> {
        let changed = changed_directions(change)?;
        for direction in changed.clone() {
            check_change(direction, self.duplex, change)?;
        }
        self.advance(now);
        for index in changed {
            let (channel, place) = self.channel_of(index);
            let channel = &mut self.channels[channel];
            let direction = &mut self.directions[index];
            direction.set(change);
            if !direction.up {
                direction.counters.dropped_down += direction.queue.clear();
                direction.counters.dropped_down +=
                    u64::from(channel.abort(self.now, direction, place));
            }
            if let Some(pace) = direction.changed_pace(self.now, self.duplex, change) {
                channel.set_pace(self.now, direction, place, pace);
            }
        }
        self.advance(now);
        Ok(())
    }

    /// Counters of a direction, up to the latest time that the link has seen.
    #[must_use]
    pub fn counters(&self, direction: usize) -> Counters {
        self.directions[direction].counters
    }

    /// Where the packets of a direction are, at the latest time that the link has seen.
    #[must_use]
    pub fn backlog(&self, direction: usize) -> Backlog {
        let (channel, place) = self.channel_of(direction);
        let Direction {
            queue, propagation, ..
        } = &self.directions[direction];
        let sending = usize::from(self.channels[channel].is_sending(place));
        Backlog {
            queued_packets: queue.len() as u64,
            queued_bytes: queue.bytes(),
            in_flight_packets: (propagation.len() + sending) as u64,
        }
    }

    /// Whether a packet of a direction is in serialisation, or on its way without being held back:
    /// what is offered to the direction now does not bring the
    /// [next deadline](Self::next_deadline) forward.
    #[must_use]
    #[inline]
    pub fn is_busy(&self, direction: usize) -> bool {
        let (channel, place) = self.channel_of(direction);
        self.directions[direction].propagation.has_next_in_order()
            || self.channels[channel].is_sending(place)
    }

    /// The fixed rate of a direction in bits a second; `None` where it is unlimited or a trace.
    #[must_use]
    pub fn rate_bps(&self, direction: usize) -> Option<u64> {
        match &self.directions[direction].pace {
            Pace::Fixed(rate) => Some(rate.bps.get()),
            Pace::Unlimited | Pace::Varying(_) | Pace::Trace(_) => None,
        }
    }

    /// Advances the link to a time.
    #[inline]
    pub(crate) fn advance(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        match self.duplex {
            Duplex::Full => {
                let ([one, other], [first, second]) = (&mut self.channels, &mut self.directions);
                one.advance(self.now, slice::from_mut(first));
                other.advance(self.now, slice::from_mut(second));
            }
            Duplex::Half => self.channels[0].advance(self.now, &mut self.directions),
        }
    }

    /// Index of the channel that serves a direction, and the direction's place among those served.
    #[inline]
    pub(crate) fn channel_of(&self, direction: usize) -> (usize, usize) {
        match self.duplex {
            Duplex::Full => (direction, 0),
            Duplex::Half => (0, direction),
        }
    }
}
