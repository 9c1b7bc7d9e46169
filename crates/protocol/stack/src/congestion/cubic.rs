//! CUBIC (RFC 9438).

use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::{Ack, Cause, CongestionControl, CongestionEvent, PathView, Window};
use crate::Nanos;

/// C, in segments per second³ (section 5).
const C: f64 = 0.4;
/// β_cubic: the part of the window that a loss leaves (section 4.6).
const BETA: f64 = 0.7;
/// α_cubic of the Reno-friendly region, until its window has grown back (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// After a loss the window follows W(t) = C·(t − K)³ + W_max, but is at least what Reno's would be.
///
/// Slow start ends by HyStart as in Linux, so that the two engines of mptcplab can be compared, or
/// by HyStart++ where asked for. As in Linux, too: while no loss has told W_max, the window grows
/// by a twentieth a round trip at least; and W(t) is looked at one *smallest* round trip ahead.
#[derive(Clone, Debug)]
pub struct Cubic {
    slow_start: SlowStart,
    curve: Curve,
    /// The curve before the last congestion event, should that have been none (section 4.9).
    before: Option<Curve>,
}

/// How slow start ends without a loss.
#[derive(Clone, Debug)]
enum SlowStart {
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

/// The cubic curve; windows in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// W_max; 0 while no loss has told.
    window_max: f64,
    epoch: Option<Epoch>,
    /// cwnd_prior: window at the last congestion event.
    window_prior: f64,
    /// Growth that is less than a byte.
    fraction_bytes: f64,
}

/// A stage of congestion avoidance (section 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch.
    start: Nanos,
    /// K, in seconds.
    k_s: f64,
    /// The plateau: W_max, or the window at the start where that was larger.
    origin: f64,
    /// W_est: Reno's window.
    reno: f64,
}

impl Default for Cubic {
    fn default() -> Self {
        Self {
            slow_start: SlowStart::HyStart(HyStart::default()),
            curve: Curve::default(),
            before: None,
        }
    }
}

impl Cubic {
    /// CUBIC with the slow start of RFC 9406.
    pub fn with_hystart_plus_plus() -> Self {
        Self {
            slow_start: SlowStart::HyStartPlusPlus(HyStartPlusPlus::default()),
            ..Self::default()
        }
    }
}

impl Curve {
    /// Growth in congestion avoidance for acknowledged segments (sections 4.2 to 4.5), in
    /// segments.
    fn growth(&mut self, now: Nanos, window: f64, acknowledged: f64, min_rtt_ns: Nanos) -> f64 {
        let window_max = self.window_max;
        let epoch = self.epoch.get_or_insert_with(|| {
            let below = (window_max - window).max(0.0);
            Epoch {
                start: now,
                k_s: libm::cbrt(below / C),
                origin: window_max.max(window),
                reno: window,
            }
        });
        let t_s = seconds(now.saturating_sub(epoch.start) + min_rtt_ns) - epoch.k_s;
        let target = C * t_s * t_s * t_s + epoch.origin;
        let alpha = if epoch.reno >= self.window_prior {
            1.0
        } else {
            ALPHA
        };
        epoch.reno += alpha * acknowledged / window;
        let mut rise = target.clamp(window, 1.5 * window) - window;
        if window_max == 0.0 {
            rise = rise.max(window / 20.0);
        }
        // The Reno-friendly region.
        let missing = (epoch.reno - window).min(0.5 * acknowledged);
        (rise * acknowledged / window).max(missing)
    }
}

fn seconds(ns: Nanos) -> f64 {
    ns as f64 / 1e9
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        match self.slow_start {
            SlowStart::HyStart(_) => "cubic",
            SlowStart::HyStartPlusPlus(_) => "cubic-hystart++",
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, _paths: &[PathView]) {
        if let SlowStart::HyStart(hystart) = &mut self.slow_start {
            hystart.on_ack(window, ack);
        }
        if !ack.window_limited {
            return;
        }
        let mut left = ack.acknowledged_bytes;
        if window.in_slow_start() {
            left = match &mut self.slow_start {
                SlowStart::HyStart(_) => window.slow_start(left),
                SlowStart::HyStartPlusPlus(slow_start) => slow_start.grow(window, ack),
            };
        }
        if left == 0 {
            return;
        }
        let mss = f64::from(window.mss);
        let segments = window.bytes as f64 / mss;
        let growth = self
            .curve
            .growth(ack.now, segments, left as f64 / mss, ack.min_rtt_ns);
        let bytes = growth * mss + self.curve.fraction_bytes;
        window.bytes += bytes as u64;
        self.curve.fraction_bytes = bytes - (bytes as u64) as f64;
    }

    fn on_congestion_event(
        &mut self,
        window: &Window,
        event: &CongestionEvent,
        _paths: &[PathView],
    ) -> u64 {
        self.before = Some(self.curve);
        let segments = window.bytes as f64 / f64::from(window.mss);
        // Fast convergence (section 4.7): give room to new flows.
        let converging = segments < self.curve.window_max;
        let window_max = match (event.cause, converging) {
            // As in Linux nothing is known after a timeout; section 4.8 says K = 0, W_max = cwnd.
            (Cause::Timeout, _) => 0.0,
            (_, true) => segments * (1.0 + BETA) / 2.0,
            (_, false) => segments,
        };
        self.curve = Curve {
            window_max,
            window_prior: segments,
            ..Curve::default()
        };
        if event.cause == Cause::Timeout {
            self.slow_start = match self.slow_start {
                SlowStart::HyStart(_) => SlowStart::HyStart(HyStart::default()),
                // Section 4.3 of RFC 9406: only the first slow start.
                SlowStart::HyStartPlusPlus(_) => {
                    SlowStart::HyStartPlusPlus(HyStartPlusPlus::finished())
                }
            };
        }
        ((window.bytes as f64 * BETA) as u64).max(2 * u64::from(window.mss))
    }

    fn on_undo(&mut self) {
        if let Some(before) = self.before.take() {
            self.curve = before;
        }
    }

    fn on_restart(&mut self, now: Nanos, idle_ns: Nanos) {
        // Time in which nothing was sent is none of the curve's (section 5.8).
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.start = (epoch.start + idle_ns).min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack_at, avoidance, loss};
    use super::*;

    const MSS: u64 = 1000;
    const RTT: Nanos = 100_000_000;

    /// One round trip of congestion avoidance: the whole window is acknowledged in segments.
    fn round(cubic: &mut Cubic, window: &mut Window, start: Nanos) {
        let segments = window.bytes / MSS;
        for index in 0..segments {
            let now = start + RTT * index / segments;
            cubic.on_ack(window, &ack_at(now, MSS, RTT), &[]);
        }
    }

    #[test]
    fn after_one_loss_the_window_follows_the_cubic_curve() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(1_000_000);
        let threshold = cubic.on_congestion_event(&window, &loss(), &[]);
        assert_eq!(threshold, 700_000);
        window.bytes = threshold;
        window.slow_start_threshold_bytes = threshold;
        // K = ∛(300 / 0.4) = 9.086 s.
        let k_s = libm::cbrt(300.0 / C);
        for step in 0..150 {
            let start = step * RTT;
            round(&mut cubic, &mut window, start);
            let t_s = seconds(start + RTT) - k_s;
            let expected = (C * t_s * t_s * t_s + 1000.0) * MSS as f64;
            let error = (window.bytes as f64 - expected).abs() / expected;
            assert!(error < 0.01, "round {step}: {} {expected}", window.bytes);
        }
    }

    #[test]
    fn with_a_small_window_it_grows_as_fast_as_reno_with_its_decrease() {
        // At 10 ms and 10 segments the cubic curve is flat; W_est rises by α a round trip.
        let mut cubic = Cubic::default();
        let mut window = avoidance(20_000);
        let threshold = cubic.on_congestion_event(&window, &loss(), &[]);
        assert_eq!(threshold, 14_000);
        window.bytes = threshold;
        window.slow_start_threshold_bytes = threshold;
        let rtt = 1_000_000;
        for acks in 0..140 {
            cubic.on_ack(&mut window, &ack_at(acks * rtt / 14, MSS, rtt), &[]);
        }
        // w' = α/w for each of 140 segments: w² = 14² + 2·140·α.
        let expected = (14.0 * 14.0 + 2.0 * 140.0 * ALPHA).sqrt();
        let grown = window.bytes as f64 / MSS as f64;
        assert!((grown - expected).abs() < 0.02, "{grown} {expected}");
    }

    #[test]
    fn a_loss_below_the_last_maximum_gives_way_to_new_flows() {
        let mut cubic = Cubic::default();
        cubic.on_congestion_event(&avoidance(100_000), &loss(), &[]);
        assert_eq!(cubic.curve.window_max, 100.0);
        cubic.on_congestion_event(&avoidance(80_000), &loss(), &[]);
        assert_eq!(cubic.curve.window_max, 68.0);
    }

    #[test]
    fn a_loss_that_was_none_leaves_the_curve_as_it_was() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(100_000);
        cubic.on_congestion_event(&window, &loss(), &[]);
        round(&mut cubic, &mut window, 0);
        let origin = cubic.curve.epoch.unwrap().origin;
        cubic.on_congestion_event(&avoidance(30_000), &loss(), &[]);
        cubic.on_undo();
        assert_eq!(cubic.curve.epoch.unwrap().origin, origin);
        assert_eq!(cubic.curve.window_max, 100.0);
    }

    #[test]
    fn while_no_loss_has_told_the_window_grows_by_a_twentieth_a_round_trip() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(1_000_000);
        round(&mut cubic, &mut window, 0);
        assert!((1_045_000..1_055_000).contains(&window.bytes), "{window:?}");
    }

    #[test]
    fn idle_time_does_not_count() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(700_000);
        cubic.curve.window_max = 1000.0;
        round(&mut cubic, &mut window, 0);
        let mut other = (cubic.clone(), window);
        other.0.on_restart(60 * RTT, 59 * RTT);
        round(&mut cubic, &mut window, RTT);
        round(&mut other.0, &mut other.1, 60 * RTT);
        assert_eq!(window, other.1);
    }

    #[test]
    fn the_curve_begins_no_later_than_now() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(700_000);
        round(&mut cubic, &mut window, 0);
        cubic.on_restart(RTT, 60 * RTT);
        assert_eq!(cubic.curve.epoch.unwrap().start, RTT);
    }
}
