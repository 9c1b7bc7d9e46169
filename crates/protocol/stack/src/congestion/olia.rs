//! OLIA: opportunistic linked increases.

use super::coupled::{Growth, halved, own, rate, total_rate};
use super::{Ack, CongestionControl, CongestionEvent, PathView, Window};

/// For each acknowledged segment a window grows by (w_r/rtt_r²)/(Σ w_p/rtt_p)² + ε_r/w_r segments.
/// ε_r moves windows from the paths with the largest ones (M) to the best paths that have smaller
/// ones (B∖M); best are those that maximise l²/rtt, with l the bytes between losses. With n paths
/// ε is 1/(n·|B∖M|) on B∖M, −1/(n·|M|) on M, and 0 elsewhere or where B∖M is empty.
///
/// Source: R. Khalili et al., "MPTCP Is Not Pareto-Optimal: Performance Issues and a Possible
/// Solution", CoNEXT 2012, section 4; draft-khalili-mptcp-congestion-control-05, section 3.
/// (The code of the multipath-tcp.org kernel takes l/rtt² for the best paths instead.)
/// For a running kernel the same stands in `crates/host/bpf/programs/olia.bpf.c`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Olia {
    growth: Growth,
}

/// l²/rtt, with l the larger of what was sent since the last loss and between the last two.
fn quality(path: &PathView) -> f64 {
    let between = path.bytes_since_loss.max(path.bytes_between_losses) as f64;
    between * between / path.smoothed_rtt_ns as f64
}

/// ε of the path on which the event happened.
fn epsilon(paths: &[PathView]) -> f64 {
    let known = || paths.iter().filter(|path| path.smoothed_rtt_ns > 0);
    let best_quality = known().map(quality).fold(0.0, f64::max);
    // In segments, as in the paper: a byte more does not make a window the only largest one.
    let segments = |path: &PathView| path.window_bytes / u64::from(path.mss.max(1));
    let largest = known().map(segments).max().unwrap_or(0);
    let is_best = |path: &PathView| quality(path) >= best_quality;
    let is_largest = |path: &PathView| segments(path) == largest;
    let collected = known()
        .filter(|path| is_best(path) && !is_largest(path))
        .count();
    let Some(own) = own(paths).filter(|own| collected > 0 && own.smoothed_rtt_ns > 0) else {
        return 0.0;
    };
    let count = known().count() as f64;
    if is_largest(own) {
        let largest_paths = known().filter(|path| is_largest(path)).count();
        -1.0 / (count * largest_paths as f64)
    } else if is_best(own) {
        1.0 / (count * collected as f64)
    } else {
        0.0
    }
}

impl CongestionControl for Olia {
    fn name(&self) -> &'static str {
        "olia"
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, paths: &[PathView]) {
        self.growth.on_ack(window, ack, |window| {
            let mss = f64::from(window.mss);
            let window_segments = window.bytes as f64 / mss;
            let total = total_rate(paths) / mss;
            let own_path = own(paths).filter(|path| path.smoothed_rtt_ns > 0);
            let Some(path) = own_path else {
                return 1.0 / window_segments;
            };
            let linked = rate(path) / mss / path.smoothed_rtt_ns as f64 / (total * total);
            linked + epsilon(paths) / window_segments
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

    fn with_loss_interval(path: PathView, bytes: u64) -> PathView {
        PathView {
            bytes_between_losses: bytes,
            ..path
        }
    }

    #[test]
    fn epsilon_moves_window_from_the_largest_to_the_best() {
        let best = with_loss_interval(path(false, 10_000, 10), 1_000_000);
        let largest = with_loss_interval(path(false, 40_000, 10), 100_000);
        let of = |own: usize| {
            let mut paths = [best, largest];
            paths[own].is_self = true;
            epsilon(&paths)
        };
        assert_eq!(of(0), 0.5);
        assert_eq!(of(1), -0.5);
        // Two windows that differ by less than a segment are both the largest.
        let mut even = [largest, largest, best];
        even[0].is_self = true;
        even[1].window_bytes += 1;
        assert_eq!(epsilon(&even), -1.0 / 6.0);
        // The best path has the largest window: nothing moves.
        let even = with_loss_interval(path(true, 40_000, 10), 1_000_000);
        assert_eq!(epsilon(&[even, path(false, 10_000, 10)]), 0.0);
    }

    #[test]
    fn what_came_since_the_last_loss_counts_too() {
        let mut lossless = path(true, 10_000, 10);
        lossless.bytes_since_loss = 2_000_000;
        let other = with_loss_interval(path(false, 40_000, 10), 1_000_000);
        assert_eq!(epsilon(&[lossless, other]), 0.5);
    }

    #[test]
    fn growth_is_that_of_the_formula() {
        // w/rtt² over (Σ w/rtt)² with 10 and 40 segments, both 10 ms: 10/50² = 0.004 a segment,
        // and ε/w = 0.5/10 = 0.05: 0.054 for each of ten segments.
        let best = with_loss_interval(path(true, 10_000, 10), 1_000_000);
        let largest = with_loss_interval(path(false, 40_000, 10), 100_000);
        let mut window = avoidance(10_000);
        Olia::default().on_ack(
            &mut window,
            &ack_at(0, 10_000, 10_000_000),
            &[best, largest],
        );
        assert!(window.bytes.abs_diff(10_540) <= 1, "{window:?}");
        // The largest one shrinks: 40/50² = 0.016 − 0.5/40 = 0.0035 a segment grows it slowly.
        let (mut best, mut largest) = (best, largest);
        (best.is_self, largest.is_self) = (false, true);
        let mut window = avoidance(40_000);
        let ack = ack_at(0, 40_000, 10_000_000);
        Olia::default().on_ack(&mut window, &ack, &[best, largest]);
        assert!(window.bytes.abs_diff(40_140) <= 1, "{window:?}");
    }

    #[test]
    fn one_path_alone_is_reno() {
        let mut window = avoidance(10_000);
        let ack = ack_at(0, 10_000, 10_000_000);
        Olia::default().on_ack(&mut window, &ack, &[path(true, 10_000, 10)]);
        assert!(window.bytes.abs_diff(11_000) <= 1, "{window:?}");
    }
}
