//! The serialiser of one direction, or of both in turn.

use super::fixed::FixedSerialiser;
use super::{NANOBITS_PER_BYTE, Nanobits};
use crate::Nanos;
use crate::direction::Direction;
use crate::pace::Pace;
use crate::packet::Packet;

/// A packet in serialisation.
#[derive(Clone, Debug)]
struct Transmission<T> {
    /// Index among the directions served.
    direction: usize,
    /// When what is left of it began.
    start: Nanos,
    /// Work that was left of it at `start`.
    work: Nanobits,
    end: Nanos,
    packet: Packet<T>,
}

/// A serialiser and the packet in it.
///
/// `served` are the directions whose packets it sends, always the same: one on a full-duplex link,
/// both on a half-duplex link.
#[derive(Clone, Debug)]
pub(crate) struct Channel<T> {
    fixed: FixedSerialiser,
    /// Direction that sends next where several have something to send.
    turn: usize,
    sending: Option<Transmission<T>>,
}

impl<T: Clone> Channel<T> {
    pub(crate) fn new() -> Self {
        Self {
            fixed: FixedSerialiser::default(),
            turn: 0,
            sending: None,
        }
    }

    /// Sends everything that starts by `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Nanos, served: &mut [Direction<T>]) {
        let has_work = match &self.sending {
            Some(sending) => sending.end <= now,
            None => served.iter().any(|direction| direction.queue.len() > 0),
        };
        if has_work {
            self.work(now, served);
        }
    }

    fn work(&mut self, now: Nanos, served: &mut [Direction<T>]) {
        loop {
            match &self.sending {
                Some(sending) if sending.end > now => return,
                Some(_) => self.depart(served),
                None => {}
            }
            match self.next_start(served) {
                Some((start, direction)) if start <= now => self.begin(start, direction, served),
                _ => return,
            }
        }
    }

    fn depart(&mut self, served: &mut [Direction<T>]) {
        if let Some(sending) = self.sending.take() {
            served[sending.direction].depart(sending.end, sending.packet);
        }
    }

    /// Start of the next packet if nothing is in serialisation, and its direction.
    #[inline]
    fn next_start(&self, served: &[Direction<T>]) -> Option<(Nanos, usize)> {
        if let [only] = served {
            return Some((self.start_of_head(only)?, 0));
        }
        let mut first = None;
        for place in 0..served.len() {
            let index = next_turn(self.turn, place, served.len());
            if let Some(start) = self.start_of_head(&served[index])
                && first.is_none_or(|(earliest, _)| start < earliest)
            {
                first = Some((start, index));
            }
        }
        first
    }

    #[inline]
    fn start_of_head(&self, direction: &Direction<T>) -> Option<Nanos> {
        let arrived = direction.queue.head_arrived()?;
        match &direction.pace {
            Pace::Unlimited | Pace::Fixed(_) => Some(self.fixed.start(arrived)),
            Pace::Varying(rate) => Some(rate.start(self.fixed.start(arrived))),
            Pace::Trace(replay) => Some(replay.start(arrived)),
        }
    }

    fn begin(&mut self, start: Nanos, index: usize, served: &mut [Direction<T>]) {
        let direction = &mut served[index];
        let dropped = &mut direction.counters.dropped_aqm;
        let Some(head) = direction.queue.pop(start, dropped) else {
            return;
        };
        let bytes = u64::from(head.packet.ip_bytes) + u64::from(direction.framing_bytes);
        let work = Nanobits::from(bytes) * NANOBITS_PER_BYTE;
        let (work, end) = self.send(start, head.arrived, work, &mut direction.pace);
        self.turn = next_turn(index, 1, served.len());
        self.sending = Some(Transmission {
            direction: index,
            start,
            work,
            end,
            packet: head.packet,
        });
    }

    /// Sends a packet from `start`; returns what is left of it then, and its end.
    fn send(
        &mut self,
        start: Nanos,
        arrived: Nanos,
        work: Nanobits,
        pace: &mut Pace,
    ) -> (Nanobits, Nanos) {
        match pace {
            Pace::Unlimited => (0, start),
            Pace::Fixed(rate) => self.fixed.send(start, arrived, work, rate),
            Pace::Varying(rate) => self.fixed.send_varying(start, arrived, work, rate),
            Pace::Trace(replay) => {
                let bytes = bytes(work);
                (
                    Nanobits::from(bytes) * NANOBITS_PER_BYTE,
                    replay.send(start, bytes),
                )
            }
        }
    }

    /// Gives a direction a new rate, also for what is left of its packet in serialisation. The
    /// channel has advanced to `now`; a packet that is still in serialisation has used all tokens.
    pub(crate) fn set_pace(
        &mut self,
        now: Nanos,
        direction: &mut Direction<T>,
        index: usize,
        pace: Pace,
    ) {
        let old = core::mem::replace(&mut direction.pace, pace);
        let tokens = match (&old, &direction.pace) {
            (Pace::Fixed(_), _) if self.is_sending(index) => 0,
            (Pace::Fixed(rate), _) => self.fixed.tokens(now, rate),
            (_, new) => new.burst(),
        };
        match self.sending.take() {
            Some(sending) if sending.direction == index => {
                let left = sending.left(now, old);
                self.fixed.restart(now, tokens, &direction.pace);
                let (work, end) = self.send(now, now, left, &mut direction.pace);
                self.sending = Some(Transmission {
                    start: now,
                    work,
                    end,
                    ..sending
                });
            }
            Some(of_other_direction) => self.sending = Some(of_other_direction),
            None => self.fixed.restart(now, tokens, &direction.pace),
        }
    }

    /// Drops the packet in serialisation if it is of this direction; returns whether it was. The
    /// channel has advanced to `now`.
    pub(crate) fn abort(&mut self, now: Nanos, direction: &mut Direction<T>, index: usize) -> bool {
        if !self.is_sending(index) {
            return false;
        }
        if let (Some(sending), Pace::Trace(replay)) = (self.sending.take(), &mut direction.pace) {
            replay.interrupt(bytes(sending.work), now);
        }
        self.fixed.restart(now, 0, &direction.pace);
        true
    }

    /// Whether a packet of this direction is in serialisation.
    #[inline]
    pub(crate) fn is_sending(&self, index: usize) -> bool {
        self.sending
            .as_ref()
            .is_some_and(|sending| sending.direction == index)
    }

    /// The packet of a direction in serialisation, and its end.
    pub(crate) fn sending_of(&self, index: usize) -> Option<(Nanos, &Packet<T>)> {
        let sending = self.sending.as_ref()?;
        (sending.direction == index).then_some((sending.end, &sending.packet))
    }

    /// Whether the token bucket holds enough for all that waits: that waits for the least times of
    /// others alone, and takes no room of the queue.
    #[inline]
    pub(crate) fn lets_through(&self, now: Nanos, of: &Direction<T>) -> bool {
        match &of.pace {
            Pace::Fixed(rate) if rate.least_packet_ns > 0 && rate.burst > 0 => {
                let framing = u64::from(of.framing_bytes) * of.queue.len() as u64;
                let bytes = of.queue.bytes() + framing;
                Nanobits::from(bytes) * NANOBITS_PER_BYTE <= self.fixed.tokens(now, rate)
            }
            _ => false,
        }
    }

    /// Whether nothing is in serialisation.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.sending.is_none()
    }

    /// No packet of the direction at this place among those served that is before the propagation
    /// stage arrives before what this returns; `None` where there is none.
    #[inline]
    pub(crate) fn earliest_arrival(&self, index: usize, direction: &Direction<T>) -> Option<Nanos> {
        let departs = match &self.sending {
            Some(sending) if sending.direction == index => sending.end,
            _ => self.start_of_head(direction)?,
        };
        Some(direction.propagation.earliest_arrival(departs))
    }
}

impl<T> Transmission<T> {
    /// Work that is left at a time before its end, where it was sent at this pace.
    fn left(&self, now: Nanos, pace: Pace) -> Nanobits {
        match pace {
            Pace::Unlimited => self.work,
            Pace::Fixed(rate) => {
                let sent = Nanobits::from(now - self.start) * Nanobits::from(rate.bps.get());
                // A packet out of the bucket takes longer than its work.
                self.work.saturating_sub(sent)
            }
            Pace::Varying(rate) => self.work - rate.work(self.start, now),
            Pace::Trace(mut replay) => {
                Nanobits::from(replay.interrupt(bytes(self.work), now)) * NANOBITS_PER_BYTE
            }
        }
    }
}

/// The `places`-th direction after one, in turn.
#[inline]
fn next_turn(index: usize, places: usize, count: usize) -> usize {
    let next = index + places;
    if next < count { next } else { next - count }
}

/// Whole bytes of some work.
fn bytes(work: Nanobits) -> u64 {
    work.div_ceil(NANOBITS_PER_BYTE) as u64
}
