//! Blocking estimation.

use super::lowest_rtt::{fastest, fastest_with_room};
use super::{Choice, Scheduler, View};
use crate::Nanos;

/// λ at the start, its bounds and its steps, in thousandths.
const LAMBDA: u64 = 1200;
const LAMBDA_MIN: u64 = 1000;
const LAMBDA_MAX: u64 = 1300;
const LAMBDA_UP: u64 = 40;
const LAMBDA_DOWN: u64 = 10;

/// Skips a slower subflow where its segment would block the connection's window for the fast one.
///
/// While a segment is on its way over the slow subflow S, the fast subflow F has n = RTT_S / RTT_F
/// rounds, in which its window grows by a segment each; it can send
///
///   X = mss_F · n · (w_F + (n − 1) / 2)
///
/// bytes. The connection sends on S only if λ·X ≤ W − (queued on S + one segment), with W the
/// peer's window from the first unacknowledged byte. λ corrects the estimate: once a slow round
/// trip it goes up where the window did block the fast subflow, and down where not.
///
/// Source: S. Ferlin et al., "BLEST: Blocking Estimation-based MPTCP Scheduler for Heterogeneous
/// Networks", IFIP Networking 2016, section III. The paper leaves the steps of λ open; start,
/// bounds (1.0 to 1.3) and the faster way up are those of the authors' kernel code.
#[derive(Clone, Copy, Debug)]
pub struct Blest {
    lambda_thousandths: u64,
    /// The window stood in the way of a subflow with room since λ changed last.
    blocked: bool,
    changed_at: Option<Nanos>,
}

impl Default for Blest {
    fn default() -> Self {
        Self {
            lambda_thousandths: LAMBDA,
            blocked: false,
            changed_at: None,
        }
    }
}

impl Scheduler for Blest {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        let slow = fastest_with_room(view)?;
        let fast = fastest(view)?;
        if view.sendable_bytes() == 0 {
            self.blocked |= view.next < view.end && fast == slow;
            return None;
        }
        if fast != slow {
            self.adapt(view.now, view.subflows[slow].smoothed_rtt_ns);
            if self.would_block(view, fast, slow) {
                return None;
            }
        }
        view.new_data(slow, view.segment_bytes(slow))
    }
}

impl Blest {
    fn would_block(&self, view: &View<'_>, fast: usize, slow: usize) -> bool {
        let (fast, slow) = (&view.subflows[fast], &view.subflows[slow]);
        let window = view.window_end - view.acknowledged;
        let left = window.saturating_sub(slow.queued_bytes + slow.segment_bytes);
        let estimate = bytes_in(
            slow.smoothed_rtt_ns,
            fast.smoothed_rtt_ns,
            fast.window_bytes,
            fast.segment_bytes,
        );
        estimate * u128::from(self.lambda_thousandths) > u128::from(left) * 1000
    }

    fn adapt(&mut self, now: Nanos, slow_rtt: Nanos) {
        let since = *self.changed_at.get_or_insert(now);
        if now - since < slow_rtt {
            return;
        }
        let lambda = if self.blocked {
            self.lambda_thousandths + LAMBDA_UP
        } else {
            self.lambda_thousandths - LAMBDA_DOWN
        };
        self.lambda_thousandths = lambda.clamp(LAMBDA_MIN, LAMBDA_MAX);
        self.blocked = false;
        self.changed_at = Some(now);
    }
}

/// Bytes that a subflow in congestion avoidance sends in a time: n rounds of its window, one
/// segment more in each: n·w + mss·n·(n − 1)/2, with n = time / rtt in 256ths.
fn bytes_in(time_ns: u64, rtt_ns: u64, window_bytes: u64, segment_bytes: u64) -> u128 {
    let rounds = (u128::from(time_ns) << 8) / u128::from(rtt_ns.max(1));
    let growth = u128::from(segment_bytes) * rounds.saturating_sub(1 << 8) / 2;
    ((rounds * u128::from(window_bytes)) >> 8) + ((rounds * growth) >> 16)
}

#[cfg(test)]
mod tests {
    use super::super::SubflowView;
    use super::super::tests::{full, subflow, view};
    use super::*;

    fn chosen(blest: &mut Blest, subflows: &[SubflowView], now: Nanos, window: u64) -> bool {
        let view = View {
            now,
            window_end: window,
            ..view(subflows)
        };
        blest.choose(&view).is_some()
    }

    #[test]
    fn the_estimate_grows_by_a_segment_a_round() {
        // Four rounds of 10, 11, 12, 13 segments of 1000 bytes.
        assert_eq!(bytes_in(40, 10, 10_000, 1000), 46_000);
        assert_eq!(bytes_in(10, 10, 10_000, 1000), 10_000);
    }

    #[test]
    fn the_slow_subflow_is_used_only_where_the_window_leaves_room_for_the_fast_one() {
        // X = 46 000 bytes, λ = 1.2: 55 200, and the segment itself: 56 200.
        let subflows = [full(0, 10), subflow(1, 40)];
        assert!(chosen(&mut Blest::default(), &subflows, 0, 56_200));
        assert!(!chosen(&mut Blest::default(), &subflows, 0, 56_199));
    }

    #[test]
    fn what_is_queued_on_the_slow_subflow_counts() {
        let slow = SubflowView {
            queued_bytes: 5_000,
            ..subflow(1, 40)
        };
        let subflows = [full(0, 10), slow];
        assert!(chosen(&mut Blest::default(), &subflows, 0, 61_200));
        assert!(!chosen(&mut Blest::default(), &subflows, 0, 61_199));
    }

    #[test]
    fn lambda_falls_by_a_step_each_slow_round_trip_without_blocking_and_rises_with_it() {
        let mut blest = Blest::default();
        let subflows = [full(0, 10), subflow(1, 40)];
        chosen(&mut blest, &subflows, 0, 1_000_000);
        chosen(&mut blest, &subflows, 39_999_999, 1_000_000);
        assert_eq!(blest.lambda_thousandths, 1200);
        chosen(&mut blest, &subflows, 40_000_000, 1_000_000);
        assert_eq!(blest.lambda_thousandths, 1190);
        // The fast subflow has room, and the window is shut.
        chosen(&mut blest, &[subflow(0, 10)], 50_000_000, 0);
        chosen(&mut blest, &subflows, 80_000_000, 1_000_000);
        assert_eq!(blest.lambda_thousandths, 1230);
    }
}
