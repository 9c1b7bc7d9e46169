//! Earliest completion first.

use super::lowest_rtt::{fastest, fastest_with_room};
use super::{Choice, Scheduler, View};

/// Waits for the fastest subflow where that completes the data sooner than the slower one that has
/// room.
///
/// With k bytes to send, windows w_F and w_S in bytes and δ the larger variation of the
/// round-trip times, the connection waits for F if
///
///   RTT_F · (max(k, w_F) + w_F) < (1 + β·waiting) · w_F · (RTT_S + δ)   and
///   RTT_S · max(k, w_S) ≥ w_S · (2·RTT_F + δ)
///
/// with β = 1/4; `waiting` is 1 while it waits, so that it does not swing.
///
/// Source: Y. Lim et al., "ECF: An MPTCP Path Scheduler to Manage Heterogeneous Paths",
/// CoNEXT 2017, algorithm 1. max(k, w): less than a window takes a whole round trip too, as in
/// the authors' kernel code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ecf {
    waiting: bool,
}

impl Scheduler for Ecf {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        let slow = fastest_with_room(view)?;
        let fast = fastest(view)?;
        if fast != slow && view.sendable_bytes() > 0 && self.wait(view, fast, slow) {
            return None;
        }
        view.new_data(slow, view.segment_bytes(slow))
    }
}

impl Ecf {
    fn wait(&mut self, view: &View<'_>, fast: usize, slow: usize) -> bool {
        let (fast, slow) = (&view.subflows[fast], &view.subflows[slow]);
        let unsent = u128::from(view.end - view.next);
        let (rtt_fast, rtt_slow) = (
            u128::from(fast.smoothed_rtt_ns),
            u128::from(slow.smoothed_rtt_ns),
        );
        let (window_fast, window_slow) =
            (u128::from(fast.window_bytes), u128::from(slow.window_bytes));
        let delta = u128::from(fast.rtt_variation_ns.max(slow.rtt_variation_ns));
        let wait_is_sooner = 4 * rtt_fast * (unsent.max(window_fast) + window_fast)
            < (4 + u128::from(self.waiting)) * window_fast * (rtt_slow + delta);
        if !wait_is_sooner {
            self.waiting = false;
            return false;
        }
        let slow_is_late =
            rtt_slow * unsent.max(window_slow) >= window_slow * (2 * rtt_fast + delta);
        if slow_is_late {
            self.waiting = true;
        }
        slow_is_late
    }
}

#[cfg(test)]
mod tests {
    use super::super::SubflowView;
    use super::super::tests::{full, subflow, view};
    use super::*;

    fn choose(ecf: &mut Ecf, subflows: &[SubflowView], unsent: u64) -> Option<usize> {
        let view = View {
            end: unsent,
            ..view(subflows)
        };
        ecf.choose(&view).map(|choice| choice.subflow)
    }

    #[test]
    fn it_waits_where_two_fast_round_trips_end_before_a_slow_one() {
        // One window each: 10 ms · (10 + 10) kB = 0.2 < 10 kB · 100 ms = 1, and
        // 100 ms · 10 kB ≥ 10 kB · 20 ms.
        assert_eq!(
            choose(&mut Ecf::default(), &[full(0, 10), subflow(1, 100)], 5_000),
            None
        );
    }

    #[test]
    fn it_sends_where_there_is_more_than_the_fast_subflow_carries_meanwhile() {
        // 10 ms · (100 + 10) kB = 1.1 ≥ 1.
        assert_eq!(
            choose(
                &mut Ecf::default(),
                &[full(0, 10), subflow(1, 100)],
                100_000
            ),
            Some(1)
        );
    }

    #[test]
    fn it_sends_where_the_slow_subflow_is_soon_done() {
        // 15 ms · 10 kB < 10 kB · 20 ms, although 10 ms · 20 kB < 10 kB · (15 + 6) ms.
        let mut slow = subflow(1, 15);
        slow.rtt_variation_ns = 6_000_000;
        assert_eq!(
            choose(&mut Ecf::default(), &[full(0, 10), slow], 5_000),
            Some(1)
        );
    }

    #[test]
    fn having_waited_it_waits_a_quarter_longer() {
        let subflows = [full(0, 10), subflow(1, 100)];
        let mut ecf = Ecf::default();
        // 10 ms · (95 + 10) kB = 1.05: between 1 and 1.25.
        assert_eq!(choose(&mut ecf, &subflows, 95_000), Some(1));
        assert_eq!(choose(&mut ecf, &subflows, 5_000), None);
        assert_eq!(choose(&mut ecf, &subflows, 95_000), None);
        assert_eq!(choose(&mut ecf, &subflows, 116_000), Some(1));
        assert_eq!(choose(&mut ecf, &subflows, 95_000), Some(1));
    }

    #[test]
    fn the_fastest_subflow_with_room_is_used_at_once() {
        assert_eq!(
            choose(
                &mut Ecf::default(),
                &[subflow(0, 10), subflow(1, 100)],
                5_000
            ),
            Some(0)
        );
    }
}
