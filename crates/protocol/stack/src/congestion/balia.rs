//! BALIA: balanced linked adaptation.

use super::coupled::{Growth, own, rate, total_rate};
use super::{Ack, CongestionControl, CongestionEvent, PathView, Window};

/// With x = w/rtt and a = max x / x_r, a window grows by x_r/(rtt_r·(Σx)²) · (1+a)/2 · (4+a)/5 for
/// each acknowledged segment, and loses w/2 · min(a, 1.5) on a loss.
///
/// Source: Q. Peng et al., "Multipath TCP: Analysis, Design, and Implementation", IEEE/ACM
/// Transactions on Networking 24(1), 2016; draft-walid-mptcp-congestion-control-04, section 3.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balia {
    growth: Growth,
}

/// max x / x_r; 1 before the first round trip.
fn ratio(paths: &[PathView]) -> f64 {
    let own_rate = own(paths).map_or(0.0, rate);
    if own_rate == 0.0 {
        return 1.0;
    }
    paths.iter().map(rate).fold(0.0, f64::max) / own_rate
}

impl CongestionControl for Balia {
    fn name(&self) -> &'static str {
        "balia"
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, paths: &[PathView]) {
        self.growth.on_ack(window, ack, |window| {
            let mss = f64::from(window.mss);
            let Some(path) = own(paths).filter(|path| path.smoothed_rtt_ns > 0) else {
                return mss / window.bytes as f64;
            };
            let a = ratio(paths);
            let total = total_rate(paths) / mss;
            let linked = rate(path) / mss / path.smoothed_rtt_ns as f64 / (total * total);
            linked * (1.0 + a) / 2.0 * (4.0 + a) / 5.0
        });
    }

    fn on_congestion_event(
        &mut self,
        window: &Window,
        _event: &CongestionEvent,
        paths: &[PathView],
    ) -> u64 {
        self.growth = Growth::default();
        let decrease = window.bytes as f64 / 2.0 * ratio(paths).min(1.5);
        let left = window.bytes - decrease as u64;
        left.max(2 * u64::from(window.mss))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack_at, avoidance, loss, path};
    use super::*;

    #[test]
    fn growth_is_that_of_the_formula() {
        // x = 1000 and 4000 segments a second, a = 4: 10/50² · 2.5 · 1.6 = 0.016 a segment.
        let paths = [path(true, 10_000, 10), path(false, 40_000, 10)];
        let mut window = avoidance(10_000);
        Balia::default().on_ack(&mut window, &ack_at(0, 10_000, 10_000_000), &paths);
        assert!(window.bytes.abs_diff(10_160) <= 1, "{window:?}");
    }

    #[test]
    fn the_slower_path_gives_up_three_quarters_and_the_fastest_half() {
        let slower = [path(true, 10_000, 10), path(false, 40_000, 10)];
        let mut balia = Balia::default();
        let left = balia.on_congestion_event(&avoidance(10_000), &loss(), &slower);
        assert_eq!(left, 2500);
        let fastest = [path(false, 10_000, 10), path(true, 40_000, 10)];
        let left = balia.on_congestion_event(&avoidance(40_000), &loss(), &fastest);
        assert_eq!(left, 20_000);
    }

    #[test]
    fn one_path_alone_is_reno() {
        let paths = [path(true, 10_000, 10)];
        let mut window = avoidance(10_000);
        Balia::default().on_ack(&mut window, &ack_at(0, 10_000, 10_000_000), &paths);
        assert!(window.bytes.abs_diff(11_000) <= 1, "{window:?}");
    }
}
