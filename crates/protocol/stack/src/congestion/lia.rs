//! LIA: linked increases (RFC 6356).

use super::coupled::{Growth, halved, rate, total_rate};
use super::{Ack, CongestionControl, CongestionEvent, PathView, Window};

/// Grows each window by min(α/w_total, 1/w_r) for each acknowledged segment, so that all subflows
/// together take at a shared bottleneck what one TCP would, and at least what the best of them
/// would alone. Slow start and decrease are Reno's (section 3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Lia {
    growth: Growth,
}

/// α = w_total · max(w_i/rtt_i²) / (Σ w_i/rtt_i)² (section 4); 1 where no path has a round trip
/// yet.
pub(super) fn alpha(paths: &[PathView]) -> f64 {
    let total = total_rate(paths);
    if total == 0.0 {
        return 1.0;
    }
    let best = paths
        .iter()
        .filter(|path| path.smoothed_rtt_ns > 0)
        .map(|path| rate(path) / path.smoothed_rtt_ns as f64)
        .fold(0.0, f64::max);
    total_window(paths) * best / (total * total)
}

fn total_window(paths: &[PathView]) -> f64 {
    paths
        .iter()
        .filter(|path| path.smoothed_rtt_ns > 0)
        .map(|path| path.window_bytes as f64)
        .sum()
}

impl CongestionControl for Lia {
    fn name(&self) -> &'static str {
        "lia"
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, paths: &[PathView]) {
        self.growth.on_ack(window, ack, |window| {
            let own = 1.0 / window.bytes as f64;
            let total = total_window(paths);
            let per_byte = if total == 0.0 {
                own
            } else {
                own.min(alpha(paths) / total)
            };
            per_byte * f64::from(window.mss)
        });
    }

    fn on_congestion_event(
        &mut self,
        window: &Window,
        _event: &CongestionEvent,
        _paths: &[PathView],
    ) -> u64 {
        self.growth = Growth::default();
        halved(window)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack_at, avoidance, path};
    use super::*;

    #[test]
    fn alpha_on_two_paths_is_that_of_the_formula() {
        // Windows of 10 and 40 segments, 10 and 100 ms: w/rtt² = 1000·10² and 4000;
        // Σ w/rtt = 1000 + 400 = 1400: α = 50 · 100 000 / 1400² = 2.551.
        let paths = [path(true, 10_000, 10), path(false, 40_000, 100)];
        assert!((alpha(&paths) - 2.551_020_408).abs() < 1e-9);
        // Two equal paths: α = 2w · w/rtt² / (2w/rtt)² = 1/2.
        let paths = [path(true, 10_000, 10), path(false, 10_000, 10)];
        assert!((alpha(&paths) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn two_equal_paths_grow_together_as_half_a_reno_each_round_trip() {
        // Each by α/w_total = 0.5 / 20 a segment, a quarter of a segment for a window.
        let paths = [path(true, 10_000, 10), path(false, 10_000, 10)];
        let mut window = avoidance(10_000);
        let mut lia = Lia::default();
        for _ in 0..10 {
            lia.on_ack(&mut window, &ack_at(0, 1000, 10_000_000), &paths);
        }
        assert_eq!(window.bytes, 10_250);
    }

    #[test]
    fn no_path_grows_faster_than_reno() {
        // α / w_total = 2.551 / 50 = 0.051 for the first path, less than 1/10; the second would
        // have 0.051 against 1/40.
        let paths = [path(false, 10_000, 10), path(true, 40_000, 100)];
        let mut window = avoidance(40_000);
        let mut lia = Lia::default();
        lia.on_ack(&mut window, &ack_at(0, 40_000, 100_000_000), &paths);
        assert_eq!(window.bytes, 41_000);
    }

    #[test]
    fn one_path_alone_is_reno() {
        let paths = [path(true, 10_000, 10)];
        let mut window = avoidance(10_000);
        Lia::default().on_ack(&mut window, &ack_at(0, 10_000, 10_000_000), &paths);
        assert_eq!(window.bytes, 11_000);
    }
}
