//! HyStart: the end of slow start before the first loss, as in Linux.

use super::{Ack, Window};
use crate::Nanos;

/// Below this window (segments) there is nothing to find.
const LOW_WINDOW: u64 = 16;
/// Acknowledgements of one train come no further apart.
const ACK_SPACING_NS: Nanos = 2_000_000;
/// Samples of the round-trip time at the start of a round.
const SAMPLES: u32 = 8;
/// Bounds of the rise of the round-trip time that tells of a queue: an eighth between these.
const RISE_MIN_NS: Nanos = 4_000_000;
const RISE_MAX_NS: Nanos = 16_000_000;
/// Bytes that a host may send as one, four times: what a burst adds to the train.
const BURST_BYTES: u64 = 4 << 16;
/// The most that this may be.
const BURST_MAX_NS: Nanos = 1_000_000;

/// Ends slow start where the train of acknowledgements in a round is as long as half the smallest
/// round trip, or where the round trips of a round begin higher by an eighth.
///
/// Source: S. Ha, I. Rhee, "Taming the Elephants: New TCP Slow Start", Computer Networks 55(9),
/// 2011; the constants are those of Linux 6.18 (net/ipv4/tcp_cubic.c).
#[derive(Clone, Debug, Default)]
pub struct HyStart {
    found: bool,
    /// Smallest round trip of the connection; 0 before the first.
    delay_min_ns: Nanos,
    /// Offset in the stream at which the round ends.
    round_end: u64,
    round_start: Nanos,
    last_ack: Nanos,
    /// Smallest round trip of the first samples of the round.
    round_rtt_ns: Option<Nanos>,
    samples: u32,
}

impl HyStart {
    /// Takes an acknowledgement; lowers the threshold to the window where slow start ends.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rtt_ns) = ack.rtt_ns else {
            return;
        };
        if self.delay_min_ns == 0 || rtt_ns < self.delay_min_ns {
            self.delay_min_ns = rtt_ns.max(1);
        }
        if self.found || !window.in_slow_start() {
            return;
        }
        if ack.acknowledged > self.round_end {
            self.round_end = ack.next;
            self.round_start = ack.now;
            self.last_ack = ack.now;
            self.round_rtt_ns = None;
            self.samples = 0;
        }
        if window.bytes < LOW_WINDOW * u64::from(window.mss) {
            return;
        }
        let queue = self.train_is_long(window, ack) || self.round_trips_rose(rtt_ns);
        if queue {
            self.found = true;
            window.slow_start_threshold_bytes = window.bytes;
        }
    }

    fn train_is_long(&mut self, window: &Window, ack: &Ack) -> bool {
        if ack.now - self.last_ack > ACK_SPACING_NS {
            return false;
        }
        self.last_ack = ack.now;
        // Twice the window a round trip is the rate of slow start.
        let burst_ns = (BURST_BYTES * ack.smoothed_rtt_ns / (2 * window.bytes)).min(BURST_MAX_NS);
        ack.now - self.round_start > (self.delay_min_ns + burst_ns) / 2
    }

    fn round_trips_rose(&mut self, rtt_ns: Nanos) -> bool {
        let least = self.round_rtt_ns.map_or(rtt_ns, |least| least.min(rtt_ns));
        self.round_rtt_ns = Some(least);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = (self.delay_min_ns / 8).clamp(RISE_MIN_NS, RISE_MAX_NS);
        least > self.delay_min_ns + rise
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack_in_round, slow_start};
    use super::*;

    /// Acknowledges a round of 20 segments, one each `spacing`, with this round trip.
    fn round(hystart: &mut HyStart, window: &mut Window, start: Nanos, spacing: Nanos, rtt: Nanos) {
        let from = hystart.round_end;
        for index in 0..20 {
            let now = start + index * spacing;
            let ack = ack_in_round(now, 1000, rtt, from + (index + 1) * 1000, from + 20_000);
            hystart.on_ack(window, &ack);
        }
    }

    #[test]
    fn slow_start_ends_when_the_train_is_half_a_round_trip_long() {
        let mut hystart = HyStart::default();
        let mut window = slow_start(20_000);
        // 19 ms are less than (39 + 1) ms / 2, not less than (37 + 1) ms / 2.
        round(&mut hystart, &mut window, 0, 1_000_000, 39_000_000);
        assert!(!hystart.found);
        round(
            &mut hystart,
            &mut window,
            1_000_000_000,
            1_000_000,
            36_900_000,
        );
        assert!(hystart.found);
        assert_eq!(window.slow_start_threshold_bytes, 20_000);
    }

    #[test]
    fn acknowledgements_far_apart_are_no_train() {
        let mut hystart = HyStart::default();
        let mut window = slow_start(20_000);
        round(&mut hystart, &mut window, 0, 2_100_000, 30_000_000);
        assert!(!hystart.found);
    }

    #[test]
    fn slow_start_ends_when_round_trips_rise_by_an_eighth() {
        let mut hystart = HyStart::default();
        let mut window = slow_start(20_000);
        round(&mut hystart, &mut window, 0, 1000, 80_000_000);
        round(&mut hystart, &mut window, 80_000_000, 1000, 90_000_000);
        assert!(!hystart.found);
        round(&mut hystart, &mut window, 160_000_000, 1000, 90_000_001);
        assert!(hystart.found);
    }

    #[test]
    fn small_windows_are_left_alone() {
        let mut hystart = HyStart::default();
        let mut window = slow_start(15_999);
        round(&mut hystart, &mut window, 0, 1000, 10_000_000);
        round(&mut hystart, &mut window, 80_000_000, 1000, 90_000_000);
        assert!(!hystart.found);
    }
}
