//! HyStart++ (RFC 9406).

use super::{Ack, Window};
use crate::Nanos;

const MIN_RTT_THRESH_NS: Nanos = 4_000_000;
const MAX_RTT_THRESH_NS: Nanos = 16_000_000;
const MIN_RTT_DIVISOR: Nanos = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// L: segments that one acknowledgement adds at the most where nothing is paced.
const L: u64 = 8;

/// When round trips rise, growth goes on four times slower for five rounds (conservative slow
/// start); it returns to slow start if they fall back meanwhile, and ends it if not.
#[derive(Clone, Debug, Default)]
pub struct HyStartPlusPlus {
    finished: bool,
    /// windowEnd: offset in the stream at which the round ends.
    round_end: u64,
    last_round_rtt_ns: Option<Nanos>,
    round_rtt_ns: Option<Nanos>,
    samples: u32,
    conservative: Option<Conservative>,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt.
    baseline_rtt_ns: Nanos,
    /// Rounds ended in it.
    rounds: u32,
}

impl HyStartPlusPlus {
    /// One that leaves slow start alone: for any but the first of a connection (section 4.3).
    pub fn finished() -> Self {
        Self {
            finished: true,
            ..Self::default()
        }
    }

    /// Grows the window in slow start (section 4.2). Gives the bytes left over for congestion
    /// avoidance.
    pub fn grow(&mut self, window: &mut Window, ack: &Ack) -> u64 {
        if self.finished {
            return window.slow_start(ack.acknowledged_bytes);
        }
        self.sample(window, ack);
        let most = L * u64::from(window.mss);
        let mut growth = ack.acknowledged_bytes.min(most);
        if self.conservative.is_some() {
            growth /= CSS_GROWTH_DIVISOR;
        }
        if window.in_slow_start() {
            window.slow_start(growth)
        } else {
            ack.acknowledged_bytes
        }
    }

    fn sample(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt_ns) = ack.rtt_ns {
            let least = self.round_rtt_ns.map_or(rtt_ns, |least| least.min(rtt_ns));
            self.round_rtt_ns = Some(least);
            self.samples += 1;
            if self.samples >= N_RTT_SAMPLE {
                self.judge(least);
            }
        }
        if ack.acknowledged > self.round_end {
            self.round_end = ack.next;
            self.last_round_rtt_ns = self.round_rtt_ns.take();
            self.samples = 0;
            if let Some(conservative) = &mut self.conservative {
                // The round in which it began counts too (section 4.2).
                conservative.rounds += 1;
                if conservative.rounds == CSS_ROUNDS {
                    self.finished = true;
                    window.slow_start_threshold_bytes = window.bytes;
                }
            }
        }
    }

    fn judge(&mut self, round_rtt_ns: Nanos) {
        match (self.conservative, self.last_round_rtt_ns) {
            (Some(conservative), _) if round_rtt_ns < conservative.baseline_rtt_ns => {
                self.conservative = None;
            }
            (None, Some(last)) => {
                let rise = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH_NS, MAX_RTT_THRESH_NS);
                if round_rtt_ns >= last + rise {
                    self.conservative = Some(Conservative {
                        baseline_rtt_ns: round_rtt_ns,
                        rounds: 0,
                    });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack_in_round, slow_start};
    use super::*;

    fn round(hystart: &mut HyStartPlusPlus, window: &mut Window, rtt: Nanos) -> u64 {
        let (from, before) = (hystart.round_end, window.bytes);
        for index in 0..10 {
            let ack = ack_in_round(0, 1000, rtt, from + (index + 1) * 1000, from + 10_000);
            hystart.grow(window, &ack);
        }
        window.bytes - before
    }

    #[test]
    fn growth_is_four_times_slower_for_five_rounds_after_round_trips_rose() {
        let mut hystart = HyStartPlusPlus::default();
        let mut window = slow_start(10_000);
        // The first acknowledgement ends the round before; the others are samples of the next.
        assert_eq!(round(&mut hystart, &mut window, 80_000_000), 10_000);
        assert_eq!(round(&mut hystart, &mut window, 80_000_000), 10_000);
        // The eighth sample tells: the rest grows slowly.
        let grown = round(&mut hystart, &mut window, 90_000_000);
        assert_eq!(grown, 8 * 1000 + 2 * 250);
        for _ in 0..4 {
            assert_eq!(round(&mut hystart, &mut window, 90_000_000), 2500);
            assert_eq!(window.slow_start_threshold_bytes, u64::MAX);
        }
        let before = window.bytes;
        round(&mut hystart, &mut window, 90_000_000);
        assert_eq!(window.slow_start_threshold_bytes, before);
    }

    #[test]
    fn slow_start_goes_on_when_round_trips_fall_back() {
        let mut hystart = HyStartPlusPlus::default();
        let mut window = slow_start(10_000);
        for rtt in [80_000_000, 80_000_000, 90_000_000, 85_000_000] {
            round(&mut hystart, &mut window, rtt);
        }
        assert!(hystart.conservative.is_none());
        assert_eq!(round(&mut hystart, &mut window, 85_000_000), 10_000);
    }
}
