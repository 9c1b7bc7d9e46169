//! Pacing: segments spread over the round trip instead of bursts.

use crate::Nanos;
use crate::congestion::Window;

/// Bits paced over a round trip, as Linux has it: twice the window in early slow start, 1.2
/// times after; of what is not acknowledged, where that is more.
///
/// Source: `tcp_update_pacing_rate` in Linux 6.18, net/ipv4/tcp_input.c.
pub(crate) fn paced_bits(window: &Window, outstanding_bytes: u64) -> u64 {
    let percent = if window.bytes < window.slow_start_threshold_bytes / 2 {
        200
    } else {
        120
    };
    let bytes = window.bytes.max(outstanding_bytes);
    bytes.saturating_mul(8 * percent) / 100
}

/// Rate of so many bits a round trip. None before the first one.
pub(crate) fn rate_bps(bits: u64, smoothed_rtt_ns: Nanos) -> Option<u64> {
    (smoothed_rtt_ns > 0).then(|| per_second(bits, smoothed_rtt_ns).max(1))
}

/// `amount` in a time as the rate of a second; [`u64::MAX`] where that is larger. Nearly always 64
/// bits are enough, which are divided much faster than 128.
pub(crate) fn per_second(amount: u64, time_ns: Nanos) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    match amount.checked_mul(SECOND_NS) {
        Some(scaled) => scaled / time_ns,
        None => {
            let rate = u128::from(amount) * u128::from(SECOND_NS) / u128::from(time_ns);
            u64::try_from(rate).unwrap_or(u64::MAX)
        }
    }
}

/// When the next segment may leave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    next_at: Nanos,
}

impl Pacer {
    /// The time to wait for, where it is not yet time.
    pub(crate) fn blocked_until(&self, now: Nanos) -> Option<Nanos> {
        (now < self.next_at).then_some(self.next_at)
    }

    /// Notes that a segment left. What a clock of coarse granularity made late is made up for.
    pub(crate) fn on_sent(&mut self, now: Nanos, bytes: u64, rate_bps: u64, granularity_ns: Nanos) {
        let spacing = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(rate_bps);
        let credit = if granularity_ns > 1 {
            granularity_ns
        } else {
            0
        };
        let from = self.next_at.max(now.saturating_sub(credit));
        self.next_at = from.saturating_add(u64::try_from(spacing).unwrap_or(Nanos::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window {
        bytes: 100_000,
        slow_start_threshold_bytes: u64::MAX,
        mss: 1000,
    };

    #[test]
    fn slow_start_paces_at_twice_the_window_a_round_trip() {
        assert_eq!(
            rate_bps(paced_bits(&WINDOW, 0), 100_000_000),
            Some(16_000_000)
        );
        let avoiding = Window {
            slow_start_threshold_bytes: 100_000,
            ..WINDOW
        };
        assert_eq!(
            rate_bps(paced_bits(&avoiding, 0), 100_000_000),
            Some(9_600_000)
        );
        assert_eq!(rate_bps(paced_bits(&WINDOW, 0), 0), None);
    }

    #[test]
    fn what_is_on_its_way_counts_where_it_is_more_than_the_window() {
        assert_eq!(paced_bits(&WINDOW, 99_999), paced_bits(&WINDOW, 0));
        assert_eq!(paced_bits(&WINDOW, 200_000), 2 * paced_bits(&WINDOW, 0));
    }

    #[test]
    fn segments_are_spaced_by_their_length() {
        let mut pacer = Pacer::default();
        pacer.on_sent(50, 1000, 8_000_000, 1);
        assert_eq!(pacer.blocked_until(50), Some(1_000_050));
        assert_eq!(pacer.blocked_until(1_000_050), None);
    }

    #[test]
    fn a_coarse_clock_lets_a_tick_s_worth_go_at_once() {
        let mut pacer = Pacer::default();
        let mut sent = 0;
        let now = 100_000_000;
        while pacer.blocked_until(now).is_none() {
            pacer.on_sent(now, 1000, 8_000_000, 10_000_000);
            sent += 1;
        }
        assert_eq!(sent, 11);
    }
}
