//! wVegas: weighted Vegas.

use super::coupled::{halved, rate, total_rate};
use super::{Ack, CongestionControl, CongestionEvent, PathView, Window, coupled};
use crate::Nanos;

/// Packets that all subflows together keep in queues.
const TOTAL_ALPHA: f64 = 10.0;
/// The least share of one subflow.
const ALPHA_MIN: f64 = 2.0;
/// Packets in queues that end slow start.
const GAMMA: f64 = 1.0;

/// Once a round trip, with diff = w·(rtt − base)/rtt packets in queues: the window grows by a
/// segment where diff is below α_r and shrinks by one where it is above. α_r is a share of 10 in
/// proportion to the path's rate. When the queueing delay is twice its minimum, the window drops
/// to w·base/(2·rtt), so that queues drain and base is found again. On a loss it is Reno's.
///
/// Less than a segment in queues counts as no queueing delay: where paths share a link, a packet
/// of the other is enough for some, which the next round doubles, and the window would be drained
/// all the time.
///
/// Source: Y. Cao, M. Xu, X. Fu, "Delay-based Congestion Control for Multipath TCP", ICNP 2012;
/// draft-xu-mptcp-congestion-control-05. Slow start ends where diff is above 1, as in Vegas.
#[derive(Clone, Copy, Debug)]
pub struct WVegas {
    base_rtt_ns: Nanos,
    /// Sum and count of the round's samples.
    sum_ns: u64,
    samples: u32,
    /// Offset in the stream at which the round ends.
    round_end: u64,
    alpha: f64,
    /// Smallest mean queueing delay since the queues were drained; none before.
    queueing_min_ns: Option<Nanos>,
}

impl Default for WVegas {
    fn default() -> Self {
        Self {
            base_rtt_ns: Nanos::MAX,
            sum_ns: 0,
            samples: 0,
            round_end: 0,
            alpha: ALPHA_MIN,
            queueing_min_ns: None,
        }
    }
}

impl CongestionControl for WVegas {
    fn name(&self) -> &'static str {
        "wvegas"
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, paths: &[PathView]) {
        if let Some(rtt_ns) = ack.rtt_ns.filter(|rtt_ns| *rtt_ns > 0) {
            self.base_rtt_ns = self.base_rtt_ns.min(rtt_ns);
            self.sum_ns = self.sum_ns.saturating_add(rtt_ns);
            self.samples += 1;
        }
        if ack.acknowledged > self.round_end {
            self.round_end = ack.next;
            if self.samples > 0 {
                let rtt_ns = self.sum_ns / u64::from(self.samples);
                (self.sum_ns, self.samples) = (0, 0);
                self.end_round(window, ack.window_limited, rtt_ns, paths);
            }
        }
        if window.in_slow_start() && ack.window_limited {
            window.slow_start(ack.acknowledged_bytes);
        }
    }

    fn on_congestion_event(
        &mut self,
        window: &Window,
        _event: &CongestionEvent,
        _paths: &[PathView],
    ) -> u64 {
        halved(window)
    }
}

impl WVegas {
    fn end_round(&mut self, window: &mut Window, limited: bool, rtt_ns: Nanos, paths: &[PathView]) {
        let mss = u64::from(window.mss);
        let segments = window.bytes as f64 / mss as f64;
        let queueing_ns = rtt_ns.saturating_sub(self.base_rtt_ns);
        let diff = segments * queueing_ns as f64 / rtt_ns as f64;
        if window.in_slow_start() {
            if diff > GAMMA {
                let target = window.bytes as f64 * self.base_rtt_ns as f64 / rtt_ns as f64;
                set(window, (target as u64 + mss).min(window.bytes));
            }
            return;
        }
        if diff >= self.alpha {
            let total = total_rate(paths);
            let share = coupled::own(paths).map_or(0.0, rate) / total;
            if total > 0.0 {
                self.alpha = (share * TOTAL_ALPHA).max(ALPHA_MIN);
            }
        }
        if diff > self.alpha {
            set(window, window.bytes.saturating_sub(mss));
        } else if diff < self.alpha && limited {
            set(window, window.bytes + mss);
        }
        let counted_ns = if diff < 1.0 { 0 } else { queueing_ns };
        let least = *self.queueing_min_ns.insert(
            self.queueing_min_ns
                .map_or(counted_ns, |least| least.min(counted_ns)),
        );
        if least > 0 && queueing_ns >= 2 * least {
            let drained = window.bytes as f64 * self.base_rtt_ns as f64 / (2.0 * rtt_ns as f64);
            set(window, drained as u64);
            self.queueing_min_ns = None;
        }
    }
}

/// Sets the window, in congestion avoidance.
fn set(window: &mut Window, bytes: u64) {
    window.bytes = bytes.max(2 * u64::from(window.mss));
    window.slow_start_threshold_bytes = window.bytes;
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack_in_round, avoidance, path, slow_start};
    use super::*;

    const MS: Nanos = 1_000_000;

    /// A round of one acknowledgement with this round trip.
    fn round(wvegas: &mut WVegas, window: &mut Window, rtt_ms: u64, paths: &[PathView]) {
        let end = wvegas.round_end;
        let ack = ack_in_round(0, 1000, rtt_ms * MS, end + 1, end + 1);
        wvegas.on_ack(window, &ack, paths);
    }

    #[test]
    fn alpha_is_shared_out_in_proportion_to_the_rates() {
        // 30 and 10 segments at equal round trips: three quarters of 10 for the first.
        let paths = [path(true, 30_000, 100), path(false, 10_000, 100)];
        let mut wvegas = WVegas::default();
        let mut window = avoidance(30_000);
        round(&mut wvegas, &mut window, 50, &paths);
        assert_eq!(window.bytes, 31_000);
        // diff = 31 · 50/100 = 15.5.
        round(&mut wvegas, &mut window, 100, &paths);
        assert_eq!(wvegas.alpha, 7.5);
        assert_eq!(window.bytes, 30_000);
    }

    #[test]
    fn a_doubled_queueing_delay_drains_the_queue() {
        let paths = [path(true, 20_000, 100)];
        let mut wvegas = WVegas {
            base_rtt_ns: 100 * MS,
            ..WVegas::default()
        };
        let mut window = avoidance(20_000);
        // 20 · 6/106 = 1.1.
        round(&mut wvegas, &mut window, 106, &paths);
        assert_eq!(window.bytes, 21_000);
        // 21 · 12/112 = 2.25 of 10: one more, then 22 · 100/224 = 9.8.
        round(&mut wvegas, &mut window, 112, &paths);
        assert_eq!(window.bytes, 9_821);
    }

    #[test]
    fn less_than_a_segment_in_queues_is_no_queueing_delay() {
        let paths = [path(true, 20_000, 100)];
        let mut wvegas = WVegas {
            base_rtt_ns: 100 * MS,
            ..WVegas::default()
        };
        let mut window = avoidance(20_000);
        // 20 · 4/104 = 0.8, 21 · 9/109 = 1.7.
        round(&mut wvegas, &mut window, 104, &paths);
        round(&mut wvegas, &mut window, 109, &paths);
        assert_eq!(window.bytes, 22_000);
    }

    #[test]
    fn slow_start_ends_when_a_segment_is_queued() {
        let paths = [path(true, 20_000, 100)];
        let mut wvegas = WVegas::default();
        let mut window = slow_start(20_000);
        round(&mut wvegas, &mut window, 100, &paths);
        assert_eq!(window.bytes, 21_000);
        // diff = 21 · 5/105 = 1, 22 · 6/106 = 1.25.
        round(&mut wvegas, &mut window, 105, &paths);
        assert!(window.in_slow_start());
        round(&mut wvegas, &mut window, 106, &paths);
        assert_eq!(window.bytes, 21_754);
        assert!(!window.in_slow_start());
    }
}
