//! A modelled subflow: segments leave as the congestion window lets them, one after the other at the
//! rate of the path, and are acknowledged a round trip later.

use std::collections::VecDeque;

use super::window::{Acknowledgement, Window};
use super::{FRAME, ModelPath, SEGMENT};

/// Bytes of the least queue of a path, which holds 16 frames. Others hold what their path carries in
/// a round trip.
const LEAST_QUEUE: f64 = 16.0 * SEGMENT;
/// Bytes of a send buffer for each byte of the widest congestion window: 2304 bytes for each segment
/// of two windows (`tcp_sndbuf_expand`), of which one takes 2252 in it.
const BUFFER: f64 = 2.0 * 2304.0 / 2252.0;
/// The same for the buffer of a connection, in which data counts with its bytes alone.
const BUFFER_OF_DATA: f64 = 2.0 * 2304.0 / SEGMENT;
/// Pacing rates relative to a window in a round trip, in slow start and after it.
const PACE: (f64, f64) = (2.0, 1.2);
/// Bytes by which a window is larger than what its path carries in a round trip where the path never
/// waits for it.
const FULL: f64 = 2.0 * SEGMENT;
/// The part of what a window holds in the queue of its path that is reckoned as one segment, and
/// how many segments at most.
const GROUP: f64 = 0.25;
const MOST_GROUPED: f64 = 24.0;
/// The part of a new round trip in the smoothed one.
const NEW_ROUND_TRIP: f64 = 1.0 / 8.0;

/// A path as it is free for more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Free {
    pub(super) at_s: f64,
    /// Bytes of data a second.
    pub(super) rate: f64,
}

/// A segment under way.
#[derive(Clone, Copy, Debug)]
struct Segment {
    bytes: f64,
    sent_s: f64,
    acknowledged_s: f64,
}

/// A segment whose acknowledgement the scheduler has not seen, and what it sees then.
#[derive(Clone, Copy, Debug)]
struct Acknowledged {
    bytes: f64,
    at_s: f64,
    seen: Seen,
}

/// A subflow as the scheduler sees it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    window: f64,
    widest: f64,
    is_slow_start: bool,
    round_trip_s: f64,
}

/// A subflow: what it has sent by its own clock, which runs ahead, and what the scheduler sees now.
#[derive(Clone, Debug)]
pub(super) struct Subflow {
    /// Bytes of data a second, and seconds of a byte.
    rate: f64,
    byte_s: f64,
    base_s: f64,
    /// Seconds from which on it may be used.
    pub(super) start_s: f64,
    window: Window,
    widest: f64,
    clock_s: f64,
    /// When the path is free for the next segment.
    free_s: f64,
    sent: f64,
    acknowledged: f64,
    smoothed_s: f64,
    /// Bytes sent before the loss was seen that is not yet answered.
    loss: Option<f64>,
    /// Segments not acknowledged by its own clock.
    flight: VecDeque<Segment>,
    /// Segments acknowledged by its own clock that the scheduler has not seen acknowledged.
    unseen: VecDeque<Acknowledged>,
    /// Bytes that the scheduler has not seen acknowledged.
    queued: f64,
    seen: Seen,
    /// Average rate of the scheduler, as seconds of a byte; `None` before the first burst.
    average_s: Option<f64>,
}

impl Subflow {
    /// One over a path from a time on.
    pub(super) fn new(path: &ModelPath, start_s: f64) -> Self {
        let window = Window::new(path.round_trip_s);
        let bytes = window.bytes;
        let rate = path.rate * SEGMENT / FRAME;
        Self {
            rate,
            byte_s: 1.0 / rate,
            base_s: path.round_trip_s,
            start_s,
            window,
            widest: bytes,
            clock_s: start_s,
            free_s: start_s,
            sent: 0.0,
            acknowledged: 0.0,
            smoothed_s: path.round_trip_s,
            loss: None,
            flight: VecDeque::new(),
            unseen: VecDeque::new(),
            queued: 0.0,
            seen: Seen {
                window: bytes,
                widest: bytes,
                is_slow_start: true,
                round_trip_s: path.round_trip_s,
            },
            average_s: None,
        }
    }

    /// When its path is free for more that is handed to it after a time, and how long each byte takes.
    pub(super) fn free(&self, after_s: f64) -> Free {
        Free {
            at_s: self.free_s.max(self.start_s).max(after_s),
            rate: self.rate,
        }
    }

    /// Whether it fills its path from now on, a loss or not, as long as it has data.
    pub(super) fn is_full(&self) -> bool {
        self.seen.window > self.rate * self.base_s + FULL
    }

    /// Seconds from when a segment has left until it has arrived.
    pub(super) fn travel_s(&self) -> f64 {
        self.base_s / 2.0
    }

    /// Lets the scheduler see what is acknowledged by a time.
    pub(super) fn see(&mut self, at_s: f64) {
        while self
            .flight
            .front()
            .is_some_and(|segment| segment.acknowledged_s <= at_s)
        {
            self.acknowledge();
        }
        while let Some(segment) = self.unseen.front()
            && segment.at_s <= at_s
        {
            self.seen = segment.seen;
            self.queued -= segment.bytes;
            self.unseen.pop_front();
        }
    }

    /// When the scheduler sees more.
    pub(super) fn next_s(&self) -> f64 {
        let unseen = self.unseen.front().map(|segment| segment.at_s);
        let next = || self.flight.front().map(|segment| segment.acknowledged_s);
        unseen.or_else(next).unwrap_or(f64::INFINITY)
    }

    /// Bytes that its send buffer has room for.
    pub(super) fn room(&self) -> f64 {
        BUFFER * self.seen.widest - self.queued
    }

    /// Bytes that it adds to the send buffer of the connection.
    pub(super) fn buffer(&self) -> f64 {
        BUFFER_OF_DATA * self.seen.widest
    }

    /// The time that it takes to send what is queued.
    pub(super) fn linger_s(&self) -> f64 {
        self.queued * self.average_s.unwrap_or_else(|| 1.0 / self.pace())
    }

    /// Weighs the rate now with a burst against the average and what is queued.
    pub(super) fn weigh(&mut self, burst: f64) {
        let (queued, pace) = (self.queued, self.pace());
        let average = self.average_s.map_or(pace, |byte_s| 1.0 / byte_s);
        self.average_s = Some((queued + burst) / (average * queued + pace * burst));
    }

    /// Bytes that are reckoned as one segment. Where the window is larger than the path needs, the
    /// path is busy all the time, and it does not matter which of those in the queue leaves when.
    pub(super) fn group(&self) -> f64 {
        if self.window.is_slow_start {
            return SEGMENT;
        }
        let queued = self.window.bytes - self.rate * self.base_s;
        (GROUP * queued / SEGMENT).floor().clamp(1.0, MOST_GROUPED) * SEGMENT
    }

    /// Takes a segment of so many bytes, or several as one, and gives when it has arrived and when
    /// it is acknowledged.
    pub(super) fn send(&mut self, at_s: f64, bytes: f64) -> (f64, f64) {
        self.clock_s = self.clock_s.max(at_s);
        while let Some(first) = self.flight.front()
            && (first.acknowledged_s <= self.clock_s
                || self.sent - self.acknowledged + bytes > self.window.bytes)
        {
            self.clock_s = self.clock_s.max(first.acknowledged_s);
            self.acknowledge();
        }
        self.free_s = self.free_s.max(self.clock_s) + bytes * self.byte_s;
        let acknowledged_s = self.free_s + self.base_s;
        self.flight.push_back(Segment {
            bytes,
            sent_s: self.clock_s,
            acknowledged_s,
        });
        self.sent += bytes;
        self.queued += bytes;
        let flight = self.sent - self.acknowledged;
        self.window.send(flight, self.sent, bytes);
        let backlog = (self.free_s - self.clock_s) * self.rate;
        let queue = (self.rate * self.base_s).max(LEAST_QUEUE);
        if backlog > queue + SEGMENT && self.loss.is_none() {
            self.loss = Some(self.sent);
        }
        (acknowledged_s - self.base_s / 2.0, acknowledged_s)
    }

    /// Takes the acknowledgement of the first segment under way, by its own clock.
    fn acknowledge(&mut self) {
        let Some(first) = self.flight.pop_front() else {
            return;
        };
        self.acknowledged += first.bytes;
        let round_trip_s = first.acknowledged_s - first.sent_s;
        self.smoothed_s += NEW_ROUND_TRIP * (round_trip_s - self.smoothed_s);
        self.window.acknowledge(&Acknowledgement {
            at_s: first.acknowledged_s,
            acknowledged: self.acknowledged,
            sent: self.sent,
            bytes: first.bytes,
            round_trip_s: round_trip_s - first.bytes * self.byte_s,
        });
        self.widest = self.widest.max(self.window.bytes);
        if self.loss.is_some_and(|sent| self.acknowledged > sent) {
            self.loss = None;
            self.window.lose(first.acknowledged_s);
        }
        self.unseen.push_back(Acknowledged {
            bytes: first.bytes,
            at_s: first.acknowledged_s,
            seen: Seen {
                window: self.window.bytes,
                widest: self.widest,
                is_slow_start: self.window.is_slow_start,
                round_trip_s: self.smoothed_s,
            },
        });
    }

    fn pace(&self) -> f64 {
        let factor = match self.seen.is_slow_start {
            true => PACE.0,
            false => PACE.1,
        };
        factor * self.seen.window / self.seen.round_trip_s
    }
}
