//! The congestion window of a modelled subflow: slow start until HyStart or a loss ends it, then
//! CUBIC.
//!
//! Source: RFC 9438 and RFC 9406, with the numbers of Linux 6.18, net/ipv4/tcp_cubic.c.

use super::SEGMENT;

const INITIAL: f64 = 10.0 * SEGMENT;
/// The window below which HyStart does not look.
const LEAST_OF_HYSTART: f64 = 16.0 * SEGMENT;
/// Acknowledgements of a round after which its least round trip counts.
const SAMPLES: u32 = 8;
/// A round trip is longer by an eighth of the least one, within these bounds, s.
const LONGER_S: (f64, f64) = (0.004, 0.016);
/// The longest pause within a train of acknowledgements, s.
const TRAIN_PAUSE_S: f64 = 0.002;
/// Bytes that a host may send as one, four times: what a burst adds to a train, and the most of it, s.
const BURST: f64 = 262_144.0;
const MOST_BURST_S: f64 = 0.001;
/// Segments a second cubed.
const CUBIC: f64 = 0.4;
/// The part of the window that a loss leaves.
const LEFT: f64 = 717.0 / 1024.0;
/// Segments that the window of Reno that CUBIC is not to fall behind grows by in a round.
const RENO: f64 = 0.53;
/// The least growth in a round before the first loss.
const FIRST_GROWTH: f64 = 1.05;
/// The most that CUBIC lets it grow in a round.
const MOST_GROWTH: f64 = 1.5;

/// An acknowledgement of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledgement {
    pub(super) at_s: f64,
    /// Bytes of the segment.
    pub(super) bytes: f64,
    /// Bytes acknowledged with it.
    pub(super) acknowledged: f64,
    /// Bytes sent before it came.
    pub(super) sent: f64,
    /// The round trip of its segment, with queues.
    pub(super) round_trip_s: f64,
}

/// A congestion window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Bytes.
    pub(super) bytes: f64,
    pub(super) is_slow_start: bool,
    /// The round trip without queues, s.
    base_s: f64,
    round: Round,
    used: Used,
    /// The window that CUBIC aims at, when it began to, and seconds from then until it is reached.
    origin: f64,
    epoch_s: f64,
    reach_s: f64,
    /// The window of Reno.
    reno: f64,
    last_loss: f64,
}

/// How far the window was used at most since it was first, until all sent by then is acknowledged
/// (`tcp_cwnd_validate`).
#[derive(Clone, Debug, Default)]
struct Used {
    is_full: bool,
    /// Bytes under way.
    bytes: f64,
    /// Bytes sent by then.
    end: f64,
}

/// A round of slow start: as long as it takes to have all acknowledged that was sent before it.
#[derive(Clone, Debug, Default)]
struct Round {
    begin_s: f64,
    /// Bytes sent before it.
    end: f64,
    samples: u32,
    least_s: f64,
    /// The last of its acknowledgements that came without a pause, s.
    train_s: f64,
}

impl Window {
    /// One of a path with this round trip without queues.
    pub(super) fn new(base_s: f64) -> Self {
        Self {
            bytes: INITIAL,
            is_slow_start: true,
            base_s,
            round: Round::default(),
            used: Used::default(),
            origin: 0.0,
            epoch_s: 0.0,
            reach_s: 0.0,
            reno: 0.0,
            last_loss: 0.0,
        }
    }

    /// Notes that bytes are under way, of so many sent, the last of them at once: how far the window
    /// is used.
    pub(super) fn send(&mut self, flight: f64, sent: f64, last: f64) {
        let is_full = flight + last.max(SEGMENT) > self.bytes;
        let is_over = sent - flight >= self.used.end;
        if is_over || is_full || (!self.used.is_full && flight > self.used.bytes) {
            self.used = Used {
                is_full,
                bytes: flight,
                end: sent,
            };
        }
    }

    /// Grows with an acknowledgement, as far as the window was used.
    pub(super) fn acknowledge(&mut self, ack: &Acknowledgement) {
        if self.is_slow_start {
            self.follow_rounds(ack);
            let is_looked_at = self.bytes >= LEAST_OF_HYSTART;
            if is_looked_at && (self.is_train_long(ack) || self.is_delay_long(ack)) {
                self.aim_at(self.bytes, ack.at_s);
            } else if self.used.is_full || self.bytes < 2.0 * self.used.bytes {
                self.bytes += ack.bytes;
            }
        } else if self.used.is_full {
            self.avoid(ack);
        }
    }

    /// Shrinks after a loss.
    pub(super) fn lose(&mut self, at_s: f64) {
        let aim = match self.bytes < self.last_loss {
            true => (1.0 + LEFT) / 2.0 * self.bytes,
            false => self.bytes,
        };
        self.last_loss = self.bytes;
        self.bytes *= LEFT;
        self.aim_at(aim, at_s);
    }

    /// Begins to aim at a window, and ends slow start.
    fn aim_at(&mut self, origin: f64, at_s: f64) {
        self.is_slow_start = false;
        self.origin = origin;
        self.epoch_s = at_s;
        self.reach_s = ((origin - self.bytes).max(0.0) / SEGMENT / CUBIC).cbrt();
        self.reno = self.bytes;
    }

    fn avoid(&mut self, ack: &Acknowledgement) {
        let from_reach_s = ack.at_s - self.epoch_s + self.base_s - self.reach_s;
        let cube = from_reach_s * from_reach_s * from_reach_s;
        let cubic = self.origin + CUBIC * cube * SEGMENT;
        let first = match self.last_loss > 0.0 {
            true => 0.0,
            false => FIRST_GROWTH * self.bytes,
        };
        let part = ack.bytes / self.bytes;
        self.reno += RENO * SEGMENT * part;
        let target = cubic
            .min(MOST_GROWTH * self.bytes)
            .max(first)
            .max(self.reno);
        self.bytes += (target - self.bytes).max(0.0) * part;
    }

    /// Begins another round with the first acknowledgement of what was sent in it.
    fn follow_rounds(&mut self, ack: &Acknowledgement) {
        if ack.acknowledged > self.round.end {
            self.round = Round {
                begin_s: ack.at_s,
                end: ack.sent,
                samples: 0,
                least_s: f64::INFINITY,
                train_s: ack.at_s,
            };
        }
    }

    /// Whether acknowledgements have come without a pause for half a round trip: the path is full.
    fn is_train_long(&mut self, ack: &Acknowledgement) -> bool {
        let round = &mut self.round;
        if ack.at_s - round.train_s > TRAIN_PAUSE_S {
            return false;
        }
        round.train_s = ack.at_s;
        let burst_s = (BURST * self.base_s / (2.0 * self.bytes)).min(MOST_BURST_S);
        ack.at_s - round.begin_s > (self.base_s + burst_s) / 2.0
    }

    /// Whether all round trips of the round are longer: there is a queue.
    fn is_delay_long(&mut self, ack: &Acknowledgement) -> bool {
        let round = &mut self.round;
        round.least_s = round.least_s.min(ack.round_trip_s);
        if round.samples < SAMPLES {
            round.samples += 1;
            return false;
        }
        let longer_s = (self.base_s / 8.0).clamp(LONGER_S.0, LONGER_S.1);
        round.least_s > self.base_s + longer_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE_S: f64 = 0.1;

    /// Acknowledges rounds of a window, which is full or has so many bytes under way, and whose
    /// acknowledgements come in a train with this pause after a round trip.
    fn rounds(window: &mut Window, count: u32, part: f64, pause_s: f64, round_trip_s: f64) {
        let (mut acknowledged, mut at_s) = (0.0, 0.0);
        for _ in 0..count {
            let flight = (part * window.bytes / SEGMENT).floor() * SEGMENT;
            let sent = acknowledged + flight;
            window.send(flight, sent, SEGMENT);
            at_s += BASE_S;
            let mut ack_s = at_s;
            while acknowledged < sent {
                acknowledged += SEGMENT;
                ack_s += pause_s;
                window.acknowledge(&Acknowledgement {
                    at_s: ack_s,
                    bytes: SEGMENT,
                    acknowledged,
                    sent,
                    round_trip_s,
                });
            }
        }
    }

    #[test]
    fn a_window_doubles_in_a_round_of_slow_start_as_far_as_it_is_used() {
        let mut window = Window::new(BASE_S);
        rounds(&mut window, 3, 1.0, 1e-5, BASE_S);
        assert_eq!(window.bytes, 8.0 * INITIAL);
        let mut idle = Window::new(BASE_S);
        rounds(&mut idle, 3, 0.4, 1e-5, BASE_S);
        assert_eq!(idle.bytes, INITIAL);
    }

    #[test]
    fn slow_start_ends_where_a_train_lasts_half_a_round_trip_or_a_queue_stands() {
        let mut full = Window::new(BASE_S);
        rounds(&mut full, 6, 1.0, 1e-3, BASE_S);
        assert!(!full.is_slow_start);
        assert!(full.bytes < 16.0 * INITIAL);
        let mut queued = Window::new(BASE_S);
        rounds(&mut queued, 3, 1.0, 1e-5, BASE_S + 0.02);
        assert!(!queued.is_slow_start);
        // Pauses end a train.
        let mut apart = Window::new(BASE_S);
        rounds(&mut apart, 3, 1.0, 3e-3, BASE_S);
        assert!(apart.is_slow_start);
    }

    #[test]
    fn a_loss_leaves_seven_tenths_to_which_it_grows_back() {
        let mut window = Window::new(BASE_S);
        rounds(&mut window, 4, 1.0, 1e-5, BASE_S);
        let before = window.bytes;
        window.lose(0.0);
        assert!((window.bytes / before - 0.7).abs() < 0.01);
        rounds(&mut window, 100, 1.0, 1e-5, BASE_S);
        assert!(window.bytes > before);
    }
}
